import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from './server-error';
import { measure } from './state-usage';

/** Something in a state directory that nobody needs any more. */
export interface Leftover {
  readonly kind: 'old logs' | 'temporary files' | 'demo directories' | 'run directories';
  readonly path: string;
  readonly bytes: number;
}

export interface LeftoverOptions {
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** How long the server keeps a run that has ended. */
  readonly retentionMs: number;
  /** Ids of the runs that the server knows; asked only if there is something old enough. */
  readonly knownRuns: () => Promise<readonly string[]>;
}

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

/** What is not of use to any run: rotated logs of over 14 days, scratch of processes that died, demos of over a week. */
export async function findLeftovers(home: string, options: LeftoverOptions): Promise<Leftover[]> {
  const { nowMs } = options;
  const older = (ms: number) => (changedMs: number) => nowMs - changedMs > ms;
  return [
    ...(await find(path.join(home, 'logs'), 'old logs', { name: /\.(jsonl|log)\.\d+$/, isOld: older(14 * DAY_MS) })),
    // A file in the making lives for a moment, a probe of the sandbox for seconds.
    ...(await find(home, 'temporary files', { name: /\.\d+-[0-9a-f]{8}\.tmp$|^probe-\w{6}$/, isOld: older(HOUR_MS) })),
    ...(await find(path.join(home, 'demo'), 'demo directories', { name: /./, isOld: older(7 * DAY_MS) })),
    ...(await findRuns(home, options)),
  ];
}

export async function removeLeftovers(leftovers: readonly Leftover[]): Promise<void> {
  for (const leftover of leftovers) await rm(leftover.path, { recursive: true, force: true });
}

/** A run's directory is named by a digest of its id. */
async function findRuns(home: string, { nowMs, retentionMs, knownRuns }: LeftoverOptions): Promise<Leftover[]> {
  const isOld = (changedMs: number): boolean => nowMs - changedMs > retentionMs;
  const found = await find(path.join(home, 'runs'), 'run directories', { name: /^[0-9a-f]{40}$/, isOld });
  if (found.length === 0) return [];
  const known = new Set((await knownRuns()).map((id) => createHash('sha256').update(id).digest('hex').slice(0, 40)));
  return found.filter((leftover) => !known.has(path.basename(leftover.path)));
}

async function find(
  directory: string,
  kind: Leftover['kind'],
  { name: pattern, isOld }: { readonly name: RegExp; readonly isOld: (changedMs: number) => boolean },
): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const name of (await namesIn(directory)).filter((each) => pattern.test(each))) {
    const { bytes, lastChangedMs } = await measure(path.join(directory, name));
    if (isOld(lastChangedMs)) found.push({ kind, path: path.join(directory, name), bytes });
  }
  return found;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
