import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry } from './log-entry';
import { parseEntry } from './log-entry';
import { ROTATED_KEPT } from './rotating-file';

const POLL_MS = 200;
const CHUNK_BYTES = 64 * 1024;

/** The newest entries of several logs, rotated parts included, in order of time. */
export function readEntries(paths: readonly string[], matches: FollowOptions['matches'], count: number): LogEntry[] {
  const entries = paths.flatMap(partsOf).flatMap((path) => entriesOf(readText(path)));
  const found = entries.filter(matches).sort(byTime);
  return found.slice(Math.max(0, found.length - count));
}

export interface FollowOptions {
  /** So many of those that are there come first. */
  readonly count: number;
  readonly matches: (entry: LogEntry) => boolean;
  readonly signal: AbortSignal;
}

/** Calls `onEntry` for each entry, also of files that rotation makes, until the signal aborts. */
export async function followEntries(
  paths: readonly string[],
  onEntry: (entry: LogEntry) => Promise<void> | void,
  { count, matches, signal }: FollowOptions,
): Promise<void> {
  // Before the files are read: what is written meanwhile must not be missed.
  const tails = paths.map((path) => createTail(path));
  try {
    for (const entry of readEntries(paths, matches, count)) await onEntry(entry);
    while (!signal.aborted) {
      const entries = tails.flatMap((tail) => entriesOf(tail.read())).filter(matches);
      for (const entry of entries.sort(byTime)) await onEntry(entry);
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    for (const tail of tails) tail.close();
  }
}

interface Tail {
  /** Whole lines that were written since the last call. */
  read(): string;
  close(): void;
}

function createTail(path: string): Tail {
  let descriptor = openIfThere(path);
  let position = descriptor === undefined ? 0 : fstatSync(descriptor).size;
  let rest = Buffer.alloc(0);

  const readOn = (): void => {
    if (descriptor === undefined) return;
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      const bytes = readSync(descriptor, chunk, 0, chunk.length, position);
      if (bytes === 0) return;
      position += bytes;
      rest = Buffer.concat([rest, chunk.subarray(0, bytes)]);
    }
  };
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  return {
    read: () => {
      readOn();
      if (isAnother(path, descriptor)) {
        // What was written between the last look and the rotation.
        readOn();
        close();
        descriptor = openIfThere(path);
        position = 0;
        readOn();
      }
      const end = rest.lastIndexOf('\n') + 1;
      const text = rest.subarray(0, end).toString('utf8');
      rest = rest.subarray(end);
      return text;
    },
    close,
  };
}

function isAnother(path: string, descriptor: number | undefined): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now !== undefined && (descriptor === undefined || fstatSync(descriptor).ino !== now.ino);
}

function openIfThere(path: string): number | undefined {
  return existsSync(path) ? openSync(path, 'r') : undefined;
}

function partsOf(path: string): string[] {
  return [...Array.from({ length: ROTATED_KEPT }, (_, index) => `${path}.${String(ROTATED_KEPT - index)}`), path];
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function entriesOf(text: string): LogEntry[] {
  return text.split('\n').flatMap((line) => parseEntry(line) ?? []);
}

function byTime(a: LogEntry, b: LogEntry): number {
  return a.time === b.time ? 0 : a.time < b.time ? -1 : 1;
}
