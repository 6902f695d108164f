import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from '@swc/core';

const ROOT = path.resolve(__dirname, '..', '..');

/**
 * Compiles the daemon's own sources into `directory` and answers the entry of its process. The daemon is a real
 * process, and it must be the sources as they are now, not the last build.
 */
export function buildDaemon(directory: string): string {
  const folders = ['server', 'contract'].flatMap((folder) =>
    readdirSync(path.join(ROOT, 'src', folder)).map((name) => path.join(folder, name)),
  );
  for (const file of [...folders, 'config-secrets.ts', 'redactor.ts']) {
    const source = readFileSync(path.join(ROOT, 'src', file), 'utf8');
    const { code } = transformSync(source, {
      filename: file,
      swcrc: false,
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'commonjs' },
    });
    const target = path.join(directory, file.replace(/\.ts$/, '.js'));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
  return path.join(directory, 'server', 'daemon-main.js');
}
