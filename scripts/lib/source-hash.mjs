import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './checkout.mjs';

const INPUTS = ['src', 'scripts', 'package-lock.json', 'tsconfig.json'];

/** The id of a build: a digest of all that goes into it. 16 hex characters. */
export function sourceHash(root = ROOT) {
  const hash = createHash('sha256');
  for (const file of INPUTS.flatMap((input) => listFiles(root, input))) {
    const content = readFileSync(path.join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/** All files at or below a path, relative to `root`, in a fixed order. */
export function listFiles(root, relative) {
  let entries;
  try {
    entries = readdirSync(path.join(root, relative), { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOTDIR') return [relative];
    throw error;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const child = path.join(relative, entry.name);
    return entry.isDirectory() ? listFiles(root, child) : entry.isFile() ? [child] : [];
  });
}
