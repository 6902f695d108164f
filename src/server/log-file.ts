import { openSync, readFileSync, renameSync, statSync } from 'node:fs';

const MAX_BYTES = 5 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;

/** Opens a log for appending; one that has grown over 5 MB becomes `<path>.1` first. The caller closes the descriptor. */
export function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

/** The size of a log now, to tell later which lines are new. */
export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The last lines of a log that were written after `fromByte`; empty when there are none. */
export function lastLogLines(path: string, count: number, fromByte = 0): string[] {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch {
    return [];
  }
  const start = Math.max(content.length - TAIL_BYTES, fromByte <= content.length ? fromByte : 0);
  const text = content.subarray(start).toString('utf8').trimEnd();
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count);
}
