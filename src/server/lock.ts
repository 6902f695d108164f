import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isAlive } from './process-identity';
import { ServerError, errorCode } from './server-error';

const holderSchema = z.looseObject({ pid: z.number().int().positive(), startTime: z.string() });

/** Who holds a lock: written into the lock file for people and for `down`. */
export type LockHolder = z.infer<typeof holderSchema>;

export interface LockHandle {
  /** Gives the lock back. The end of the process does the same. */
  release(): void;
}

export type LockAttempt =
  | { readonly held: true; readonly lock: LockHandle }
  | { readonly held: false; readonly holder: LockHolder | undefined };

const HOLDER_WRITTEN_WITHIN_MS = 500;

/**
 * Takes the lock at `path` without waiting; `holder` is this process and whatever else its record should say. It is the kernel's (`flock` on an open descriptor): it ends with this
 * process however that ends, and children do not inherit it as long as their stdio is named.
 * @returns the lock, or the record of who holds it (undefined when that cannot be read).
 * @throws ServerError (`usage`) when the file cannot be written or `flock` is not installed.
 */
export async function tryLock(path: string, holder: LockHolder): Promise<LockAttempt> {
  // A plain descriptor, not a FileHandle: that one is closed, and the lock lost, when it is garbage-collected.
  const descriptor = openLockFile(path);
  if (!flock(descriptor)) {
    closeSync(descriptor);
    return { held: false, holder: await readHolder(path) };
  }
  ftruncateSync(descriptor);
  writeSync(descriptor, `${JSON.stringify(holder)}\n`, 0);
  return { held: true, lock: { release: () => closeSync(descriptor) } };
}

/** The holder named in a lock file, if that process lives. */
export function readLiveHolder(path: string): LockHolder | undefined {
  try {
    const holder = holderSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return holder.success && isAlive(holder.data) ? holder.data : undefined;
  } catch {
    return undefined;
  }
}

function openLockFile(path: string): number {
  try {
    // Neither truncates nor needs the file: the text of the present holder stays.
    return openSync(path, 'a+', 0o600);
  } catch (error) {
    throw new ServerError('usage', `the lock file ${path} cannot be opened (${errorCode(error)}).`, { cause: error });
  }
}

function flock(descriptor: number): boolean {
  const { status, error } = spawnSync('flock', ['-n', '-x', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (errorCode(error) === 'ENOENT') {
    throw new ServerError('usage', 'flock is missing. Install it (Debian, Ubuntu: apt-get install util-linux).');
  }
  if (error !== undefined) throw error;
  return status === 0;
}

/** The holder may have locked the file a moment ago and not written its record yet. */
async function readHolder(path: string): Promise<LockHolder | undefined> {
  const deadline = Date.now() + HOLDER_WRITTEN_WITHIN_MS;
  for (;;) {
    const holder = readLiveHolder(path);
    if (holder !== undefined || Date.now() >= deadline) return holder;
    await sleep(20);
  }
}
