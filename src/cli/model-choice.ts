import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { LineCounter, isMap, isSeq, parseDocument } from 'yaml';
import type { Config } from '../config';
import type { ModelChoice } from '../contract/run-input';
import { EXIT_USAGE } from '../contract/outcome';
import { CliError } from './cli-error';
import { formatBytes } from './format';
import { examplePath } from './package-root';
import { visibleText } from './visible-text';

const SCRIPTED = 'scripted:';
const MAX_SCRIPT_BYTES = 512 * 1024;

/**
 * `scripted:FILE`, `scripted:NAME` of a shipped script, or the id of a real model.
 * @throws CliError when there is no key, or the script cannot be used.
 */
export function chooseModel(model: string, config: Config): ModelChoice {
  if (model.startsWith(SCRIPTED)) return scriptedModel(model.slice(SCRIPTED.length));
  if (model.trim() === '' || /\s/.test(model)) throw usage(`"${visibleText(model)}" is not the name of a model.`);
  // On a cluster the workers have the keys.
  if (config.temporal.mode === 'embedded' && config.endpoints[config.endpoint]?.apiKey === undefined) {
    throw usage(`No key for the model ${model} is set, so nothing was started. ${HOW_TO_GET_A_MODEL}`);
  }
  return { provider: 'anthropic', model, endpoint: config.endpoint };
}

const HOW_TO_GET_A_MODEL =
  'Set ANTHROPIC_API_KEY, or let a recorded model play: --model scripted:FILE (or scripted:demo).';

function scriptedModel(name: string): ModelChoice {
  if (name === '') throw usage('--model scripted: needs a file or a name after the colon, for example scripted:demo.');
  const file = scriptFile(name);
  const script = readScript(file);
  checkYaml(script, file);
  const model = file === path.resolve(name) ? path.basename(name) : name;
  return { provider: 'scripted', model, endpoint: 'scripted', script };
}

function scriptFile(name: string): string {
  const file = path.resolve(name);
  if (existsSync(file) || /[/\\.]/.test(name)) return file;
  const shipped = examplePath(name, 'script.yaml');
  if (existsSync(shipped)) return shipped;
  throw usage(
    `There is neither a file ${visibleText(file)} nor a shipped script named "${visibleText(name)}" (there is: demo).`,
  );
}

function readScript(file: string): string {
  const shown = visibleText(file);
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw usage(`The script ${shown} is not a file.`);
    if (stats.size > MAX_SCRIPT_BYTES) {
      throw usage(`The script ${shown} has ${formatBytes(stats.size)}; at most 512 KB are possible.`);
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw usage(`The script ${shown} cannot be read (${code}). Look at its name and permissions.`);
  }
}

/** What can be said before the start; the worker checks the whole form and names the line of a fault as well. */
function checkYaml(script: string, file: string): void {
  const lines = new LineCounter();
  const document = parseDocument(script, { lineCounter: lines, prettyErrors: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line } = lines.linePos(fault.pos[0]);
    throw usage(`The script ${visibleText(file)} is not valid YAML: line ${line}: ${visibleText(fault.message)}`);
  }
  if (!isMap(document.contents) || !isSeq(document.contents.get('turns', true))) {
    throw usage(`The script ${visibleText(file)} has no list "turns:" at its top, so there is nothing to play.`);
  }
}

function usage(message: string): CliError {
  return new CliError(EXIT_USAGE, message);
}
