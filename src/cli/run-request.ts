import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../config';
import { findModelInfo } from '../config-models';
import { EXIT_USAGE } from '../contract/outcome';
import type { ModelChoice, PermissionMode, PermissionSetting, RunLimits } from '../contract/run-input';
import { MAX_TEXT_BYTES } from '../conversation/limits';
import { CliError } from './cli-error';
import { formatBytes } from './format';
import type { Io } from './io';
import { chooseModel } from './model-choice';
import { readOutputSchema } from './output-schema';
import { visibleText } from './visible-text';

/** Flags of the commands that start a run. */
export interface RunFlags {
  readonly workspace?: string;
  readonly model?: string;
  readonly id?: string;
  readonly again?: boolean;
  readonly mode?: PermissionMode;
  readonly unattended?: boolean;
  readonly settings?: string;
  readonly maxTurns?: number;
  readonly maxCost?: number;
  readonly maxTokens?: number;
  readonly maxTime?: number;
  readonly dumpRequests?: string;
  readonly outputSchema?: string;
  readonly record?: string;
  readonly json?: boolean;
  readonly streamJson?: boolean;
}

/** What a person asks for, checked: nothing but the server can refuse it now. */
export interface RunRequest {
  readonly task: string;
  readonly workspace: string;
  readonly model: ModelChoice;
  readonly limits: RunLimits;
  readonly permission: PermissionSetting;
  readonly dumpRequests?: string;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

const MAX_ID_LENGTH = 200;

/** Whether the run is unattended where no flag says so, and what else a request is checked against. */
interface RequestContext {
  readonly config: Config;
  readonly io: Io;
  readonly nobodyAnswers: boolean;
}

/**
 * Checks arguments and flags without starting anything.
 * @param taskArgument the task, or `-` for standard input.
 * @throws CliError (exit code 2) with one sentence.
 */
export async function readRunRequest(
  taskArgument: string,
  flags: RunFlags,
  context: RequestContext,
): Promise<RunRequest> {
  // Standard input is read last: whatever else is wrong is said before it is waited for.
  const given = taskArgument === '-' ? undefined : checkText(taskArgument, 'task');
  const settings = checkRunFlags(flags, context);
  return { task: given ?? checkText(await readAll(context.io.stdin, 'task'), 'task'), ...settings };
}

/** Everything of a request but its task. @throws CliError (exit code 2) with one sentence. */
export function checkRunFlags(
  flags: RunFlags,
  { config, nobodyAnswers }: Omit<RequestContext, 'io'>,
): Omit<RunRequest, 'task'> {
  if (flags.id !== undefined) checkId(flags.id);
  const mode = flags.mode ?? config.mode;
  const unattended = flags.unattended ?? nobodyAnswers;
  const workspace = checkWorkspace(flags.workspace ?? '.', mode);
  const model = chooseModel(flags.model ?? config.model, config);
  return {
    workspace,
    model,
    limits: limitsOf(flags, config, { unattended, model }),
    permission: { mode, unattended },
    ...(flags.outputSchema === undefined ? {} : { outputSchema: readOutputSchema(flags.outputSchema) }),
    ...(flags.dumpRequests === undefined ? {} : { dumpRequests: checkDumpDirectory(flags.dumpRequests) }),
  };
}

/** What a person says to a model. */
type Said = 'task' | 'message';

/** @throws CliError (exit code 2) for a text that no run would take. */
export function checkText(text: string, what: Said): string {
  if (text.trim() === '') {
    throw usage(
      `The ${what} is empty. ${what === 'task' ? 'Say what to do: run "fix the failing test".' : 'Say something.'}`,
    );
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return text;
  throw usage(
    `The ${what} has ${formatBytes(bytes)}; at most 128 KB are possible. Put the text in a file of the workspace and name it.`,
  );
}

/** Standard input as one text. @throws CliError (exit code 2) beyond what a run would take. */
export async function readAll(stdin: Readable, what: Said): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const data = Buffer.from(chunk as Uint8Array);
    bytes += data.length;
    if (bytes > MAX_TEXT_BYTES)
      throw usage(`The ${what} on standard input has more than 128 KB. Put it in a file and name it.`);
    chunks.push(data);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function checkId(id: string): void {
  if (id.length <= MAX_ID_LENGTH && /^[\w.:@/-]+$/.test(id) && !id.startsWith('-')) return;
  throw usage(`"${visibleText(id)}" cannot be an id. Use up to 200 letters, digits and any of . _ : @ / -`);
}

/** The directory's real path: the same workspace by another name is the same workspace. */
function checkWorkspace(given: string, mode: PermissionMode): string {
  const shown = visibleText(path.resolve(given));
  let directory: string;
  try {
    directory = realpathSync(given);
    if (!statSync(directory).isDirectory()) throw usage(`The workspace ${shown} is not a directory.`);
    accessSync(directory, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = codeOf(error);
    if (code === 'ENOENT')
      throw usage(`The workspace ${shown} does not exist. Create it or name another: --workspace DIR.`);
    throw usage(`The workspace ${shown} cannot be read (${code}). Look at its permissions.`);
  }
  if (mode !== 'read-only') checkWritable(directory, shown);
  return directory;
}

function checkWritable(directory: string, shown: string): void {
  try {
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw usage(
      `The workspace ${shown} cannot be written (${codeOf(error)}). Look at its permissions, or use --mode read-only.`,
    );
  }
}

function checkDumpDirectory(given: string): string {
  const directory = path.resolve(given);
  const stats = statSync(directory, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return directory;
  throw usage(`--dump-requests needs a directory, and ${visibleText(directory)} is a file.`);
}

function limitsOf(
  flags: RunFlags,
  { limits, models }: Config,
  { unattended, model }: { readonly unattended: boolean; readonly model: ModelChoice },
): RunLimits {
  const known = model.provider === 'scripted' ? null : findModelInfo(models, model.model);
  const optional = {
    maxTimeMs: flags.maxTime ?? limits.maxTimeMs,
    maxCostUsd: flags.maxCost ?? limits.maxCostUsd,
    maxTokens: flags.maxTokens ?? limits.maxTokens,
    maxOutputRaised: limits.maxOutputRaised ?? known?.maxOutputTokens,
    contextTokens: limits.contextTokens ?? known?.contextTokens,
    compactAt: limits.compactAt,
    turnsPerRun: limits.turnsPerRun,
  };
  const set = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    maxTurns: flags.maxTurns ?? limits.maxTurns,
    maxOutputTokens: Math.min(limits.maxOutputTokens, known?.maxOutputTokens ?? limits.maxOutputTokens),
    hostWaitMs: unattended ? limits.hostWaitUnattendedMs : limits.hostWaitMs,
    modelWaitMs: unattended ? limits.modelWaitUnattendedMs : limits.modelWaitMs,
    ...(Object.fromEntries(set) as Partial<RunLimits>),
  };
}

function usage(message: string): CliError {
  return new CliError(EXIT_USAGE, message);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
