import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process, told apart from a later one that got the same pid: `startTime` is field 22 of `/proc/<pid>/stat`. */
export type ProcessIdentity = Readonly<{ pid: number; startTime: string }>;

const POLL_MS = 20;

/** Identity of a live process; undefined when there is none with this pid (one that only waits to be reaped is dead). */
export function identify(pid: number): ProcessIdentity | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The program's name stands in parentheses and may hold anything, so fields are counted from the last one: state is field 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const startTime = fields[19];
  if (state === 'Z' || state === 'X' || startTime === undefined) return undefined;
  return { pid, startTime };
}

/** Identity of this process. */
export function ownIdentity(): ProcessIdentity {
  const identity = identify(process.pid);
  if (identity === undefined) throw new Error('/proc is not readable: cannot tell processes apart');
  return identity;
}

/** Whether exactly this process lives. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startTime === identity.startTime;
}

/** Sends a signal if exactly this process lives; answers whether it did. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}

/** Waits until the process is gone; answers false when it still lives after `timeoutMs`. */
export async function waitUntilGone(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** SIGTERM, then SIGKILL after `graceMs`. Answers whether the process lived when called. */
export async function endProcess(identity: ProcessIdentity, graceMs: number): Promise<boolean> {
  if (!signalProcess(identity, 'SIGTERM')) return false;
  if (await waitUntilGone(identity, graceMs)) return true;
  signalProcess(identity, 'SIGKILL');
  await waitUntilGone(identity, 5_000);
  return true;
}
