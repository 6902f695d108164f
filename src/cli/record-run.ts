import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { codeOf } from '../config-value';
import { EXIT_CODES, EXIT_USAGE } from '../contract/outcome';
import { scriptOf } from '../transcript/script';
import type { RunView } from '../transcript/view';
import { CliError } from './cli-error';
import type { Io } from './io';
import { visibleText } from './visible-text';

const MAX_SCRIPT_BYTES = 512 * 1024;

/** The absolute path of the file that a run is recorded into. @throws CliError (exit code 2) when it cannot be made. */
export function checkRecordFile(given: string): string {
  const file = path.resolve(given);
  const shown = visibleText(file);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new CliError(EXIT_USAGE, `--record needs a file, and ${shown} is a directory.`);
  }
  if (existsSync(path.dirname(file))) return file;
  throw new CliError(EXIT_USAGE, `--record ${shown}: its directory does not exist. Create it or name another.`);
}

/**
 * Writes what the model said in a run as a script for `--model scripted:FILE`.
 * @throws CliError when the file cannot be written.
 */
export function recordRun(view: RunView, file: string, { say }: Pick<Io, 'say'>): void {
  const { turns } = scriptOf(view);
  const text = scriptText(view);
  const shown = visibleText(file);
  try {
    // The user's alone: a conversation may hold what nobody else should read.
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw new CliError(EXIT_CODES.failed, `The recording ${shown} cannot be written (${codeOf(error)}).`);
  }
  const size = Buffer.byteLength(text) > MAX_SCRIPT_BYTES ? '; it has more than 512 KB, which cannot be played' : '';
  say(`recorded ${turns.length === 1 ? '1 turn' : `${turns.length} turns`} in ${shown}${size}`);
}

/** The YAML of the script. */
function scriptText(view: RunView): string {
  const { workflowId, input } = view;
  const header = `# What ${input.model.model} said in the run ${workflowId}. Play it: --model scripted:FILE\n`;
  // Not folded: a line of a text stays a line.
  return header + stringify(scriptOf(view), { lineWidth: 0, aliasDuplicateObjects: false });
}
