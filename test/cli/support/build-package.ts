import { copyFileSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from '@swc/core';

const ROOT = path.resolve(__dirname, '..', '..', '..');

/**
 * Makes an installed package of the present sources in `directory` and answers its program. Tests must not depend on
 * when `dist` was last built, nor on somebody editing the sources while they run.
 */
export function buildPackage(directory: string): string {
  const dist = path.join(directory, 'dist');
  for (const entry of readdirSync(path.join(ROOT, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.d.ts')) continue;
    const file = path.join(entry.parentPath, entry.name);
    const target = path.join(dist, path.relative(path.join(ROOT, 'src'), file)).replace(/\.ts$/, '.js');
    mkdirSync(path.dirname(target), { recursive: true });
    const { code } = transformSync(readFileSync(file, 'utf8'), {
      filename: file,
      swcrc: false,
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'commonjs', ignoreDynamic: true },
    });
    writeFileSync(target, code);
  }
  copyFileSync(process.env['SUREHAND_TEST_BUNDLE'] ?? '', path.join(dist, 'workflow-bundle.js'));
  copyFileSync(path.join(ROOT, 'package.json'), path.join(directory, 'package.json'));
  writeFileSync(path.join(dist, 'build-id'), 'test-build\n');
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
  symlinkSync(path.join(ROOT, 'examples'), path.join(directory, 'examples'));
  return path.join(dist, 'client.js');
}
