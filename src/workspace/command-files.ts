import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessMark } from './process-table';

/** What the runner notes before the supervisor starts. */
export interface StartNote {
  readonly callId: string;
  /** Random, in the environment of all its processes: the same key in another state directory is another command. */
  readonly marker: string;
  readonly mode: 'strict' | 'off';
  readonly startedAtMs: number;
  readonly timeoutMs: number;
  /** Of `/proc/sys/kernel/random/boot_id`: after a power loss a missing status line proves nothing. */
  readonly bootId: string;
}

/** What bwrap reported about one command. */
export interface SandboxStatus {
  /** Pid, on the host, of the namespace's init. Written before the command is released. */
  readonly init?: number;
  readonly exitCode?: number;
}

/** Where one call's files are. */
export interface CallFiles {
  readonly directory: string;
  readonly output: string;
}

/** Files of a call under a state directory, by a digest of its key. */
export function callFiles(stateDirectory: string, callId: string): CallFiles {
  const name = createHash('sha256').update(callId).digest('hex').slice(0, 40);
  const directory = join(stateDirectory, 'calls', name);
  return { directory, output: join(directory, 'output') };
}

/** Undefined as long as nothing can have started: the note is whole before the supervisor is. */
export function readStartNote(files: CallFiles): StartNote | undefined {
  const text = readText(files, 'start.json');
  if (text === undefined) return undefined;
  try {
    // Written by this module's own process family, in one step.
    return JSON.parse(text) as StartNote;
  } catch {
    return damagedNote(files);
  }
}

/** A note that does not read: either its writer died over it, or it was whole once, which the supervisor's mark proves. */
function damagedNote(files: CallFiles): StartNote | undefined {
  const begun = statSync(join(files.directory, 'supervisor'), { throwIfNoEntry: false });
  if (begun === undefined) return undefined;
  const sandboxed = readText(files, 'status') !== undefined;
  // No boot is this one, so nothing passes for proof that it did not run.
  const unknown = { callId: '', marker: '', bootId: '', timeoutMs: 0 };
  return { ...unknown, mode: sandboxed ? 'strict' : 'off', startedAtMs: begun.mtimeMs };
}

/** The supervisor's mark; `starting` while its file is still empty, `given-up` if somebody barred the start. */
export function readSupervisor(files: CallFiles): ProcessMark | 'none' | 'starting' | 'given-up' {
  const text = readText(files, 'supervisor');
  if (text === undefined) return 'none';
  if (text.trim() === GIVEN_UP) return 'given-up';
  const [pid, startTime] = text.trim().split(' ');
  if (pid === undefined || startTime === undefined) return 'starting';
  return { pid: Number(pid), startTime };
}

const GIVEN_UP = 'given-up';

/** Bars a supervisor that has not yet begun from ever starting its command. False if it was faster. */
export async function giveUpStart(files: CallFiles): Promise<boolean> {
  return await createExclusively(files, 'supervisor', `${GIVEN_UP}\n`);
}

export function readStatus(files: CallFiles): SandboxStatus {
  const text = readText(files, 'status') ?? '';
  const init = /"child-pid": (\d+)/u.exec(text)?.[1];
  const exitCode = /"exit-code": (\d+)/u.exec(text)?.[1];
  return {
    ...(init === undefined ? {} : { init: Number(init) }),
    ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) }),
  };
}

export function readReason(files: CallFiles): string | undefined {
  return readText(files, 'reason')?.trim();
}

/** First one wins. */
export async function claimReason(files: CallFiles, reason: string): Promise<boolean> {
  return await createExclusively(files, 'reason', `${reason}\n`);
}

/** Pid of the command's outermost process. */
export function readChild(files: CallFiles): number | undefined {
  const text = readText(files, 'child')?.trim();
  return text === undefined || text === '' ? undefined : Number(text);
}

/**
 * The exit status as the supervisor saw it (NaN: nothing was started), with the time it was written; undefined while it
 * runs, also for the moment in which the file is empty yet.
 */
export function readEnd(files: CallFiles): { readonly code: number; readonly atMs: number } | undefined {
  const text = readText(files, 'end')?.trim();
  if (text === undefined || text === '') return undefined;
  const atMs = statSync(join(files.directory, 'end'), { throwIfNoEntry: false })?.mtimeMs;
  return atMs === undefined ? undefined : { code: Number(text), atMs };
}

export async function outputSize(files: CallFiles): Promise<number> {
  return (await stat(files.output).catch(() => undefined))?.size ?? 0;
}

/** Changes with every start of the machine. */
export function currentBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** In one go: these files are tiny and are looked at often, and a trip through the thread pool costs more than the read. */
function readText(files: CallFiles, name: string): string | undefined {
  try {
    return readFileSync(join(files.directory, name), 'utf8');
  } catch {
    return undefined;
  }
}

async function createExclusively(files: CallFiles, name: string, text: string): Promise<boolean> {
  const file = await open(join(files.directory, name), 'wx', 0o600).catch(() => undefined);
  if (file === undefined) return false;
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  return true;
}
