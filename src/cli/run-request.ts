import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../config';
import { EXIT_USAGE } from '../contract/outcome';
import type { ModelChoice, PermissionMode, PermissionSetting, RunLimits } from '../contract/run-input';
import { CliError } from './cli-error';
import { formatBytes } from './format';
import type { Io } from './io';
import { chooseModel } from './model-choice';
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
}

const MAX_TASK_BYTES = 128 * 1024;
const MAX_ID_LENGTH = 200;

/**
 * Checks arguments and flags without starting anything.
 * @param taskArgument the task, or `-` for standard input.
 * @param nobodyAnswers whether the run is unattended where no flag says so.
 * @throws CliError (exit code 2) with one sentence.
 */
export async function readRunRequest(
  taskArgument: string,
  flags: RunFlags,
  { config, io, nobodyAnswers }: { readonly config: Config; readonly io: Io; readonly nobodyAnswers: boolean },
): Promise<RunRequest> {
  if (flags.id !== undefined) checkId(flags.id);
  // Standard input is read last: whatever else is wrong is said before it is waited for.
  const given = taskArgument === '-' ? undefined : checkTask(taskArgument);
  const mode = flags.mode ?? config.mode;
  const unattended = flags.unattended ?? nobodyAnswers;
  const workspace = checkWorkspace(flags.workspace ?? '.', mode);
  const model = chooseModel(flags.model ?? config.model, config);
  const task = given ?? checkTask(await readAll(io.stdin));
  return {
    task,
    workspace,
    model,
    limits: limitsOf(flags, config, unattended),
    permission: { mode, unattended },
    ...(flags.dumpRequests === undefined ? {} : { dumpRequests: checkDumpDirectory(flags.dumpRequests) }),
  };
}

function checkTask(task: string): string {
  if (task.trim() === '') throw usage('The task is empty. Say what to do: run "fix the failing test".');
  const bytes = Buffer.byteLength(task);
  if (bytes <= MAX_TASK_BYTES) return task;
  throw usage(
    `The task has ${formatBytes(bytes)}; at most 128 KB are possible. Put the text in a file of the workspace and name it.`,
  );
}

async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const data = Buffer.from(chunk as Uint8Array);
    bytes += data.length;
    if (bytes > MAX_TASK_BYTES)
      throw usage('The task on standard input has more than 128 KB. Put it in a file and name it.');
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

function limitsOf(flags: RunFlags, { limits }: Config, unattended: boolean): RunLimits {
  const maxTimeMs = flags.maxTime ?? limits.maxTimeMs;
  const maxCostUsd = flags.maxCost ?? limits.maxCostUsd;
  const maxTokens = flags.maxTokens ?? limits.maxTokens;
  return {
    maxTurns: flags.maxTurns ?? limits.maxTurns,
    maxOutputTokens: limits.maxOutputTokens,
    hostWaitMs: unattended ? limits.hostWaitUnattendedMs : limits.hostWaitMs,
    ...(maxTimeMs === undefined ? {} : { maxTimeMs }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

function usage(message: string): CliError {
  return new CliError(EXIT_USAGE, message);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
