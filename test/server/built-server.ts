import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from '@swc/core';

const ROOT = path.resolve(__dirname, '..', '..');

/**
 * Compiles the daemon's own sources into `directory` and answers the entry of its process. The daemon is a real
 * process, and it must be the sources as they are now, not the last build.
 */
export function buildDaemon(directory: string): string {
  for (const folder of ['server', 'contract']) {
    mkdirSync(path.join(directory, folder), { recursive: true });
    for (const name of readdirSync(path.join(ROOT, 'src', folder))) {
      const source = readFileSync(path.join(ROOT, 'src', folder, name), 'utf8');
      const { code } = transformSync(source, {
        filename: name,
        swcrc: false,
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
      });
      writeFileSync(path.join(directory, folder, name.replace(/\.ts$/, '.js')), code);
    }
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
  return path.join(directory, 'server', 'daemon-main.js');
}
