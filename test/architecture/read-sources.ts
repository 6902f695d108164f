import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import type { Source } from './parse-source';

export const REPOSITORY = resolve(__dirname, '../..');
export const SRC = join(REPOSITORY, 'src');

/** All modules of `src`; ambient declarations import nothing and are left out. */
export function readSources(): Source[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));
}
