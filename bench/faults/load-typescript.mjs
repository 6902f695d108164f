/** Lets a bench use what the tests have: their TypeScript, without the types. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { transformFileSync } from '@swc/core';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** @param file from the root of the repository; what it imports beside types has to come from Node. */
export function loadTypeScript(file) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'surehand-bench-'));
  const target = path.join(directory, `${path.basename(file, '.ts')}.cjs`);
  try {
    const { code } = transformFileSync(path.join(ROOT, file), {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'commonjs' },
      swcrc: false,
    });
    writeFileSync(target, code);
    return createRequire(target)(target);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
