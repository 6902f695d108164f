import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { EXIT_USAGE } from '../contract/outcome';
import { CliError } from './cli-error';
import { examplePath } from './package-root';

const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * A fresh copy of the sample repository below `demoRoot`; copies of more than a week ago are removed.
 * @throws CliError when the state directory cannot be written.
 */
export function makeDemoWorkspace(demoRoot: string, name: string): string {
  const directory = path.join(demoRoot, name, 'corner-shop');
  try {
    mkdirSync(demoRoot, { recursive: true, mode: 0o700 });
    removeOld(demoRoot);
    cpSync(examplePath('demo', 'repo'), directory, { recursive: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CliError(
      EXIT_USAGE,
      `The sample repository cannot be copied to ${directory} (${code}). Make it writable, or set SUREHAND_HOME to another directory.`,
      { cause: error },
    );
  }
  return directory;
}

function removeOld(demoRoot: string): void {
  for (const name of readdirSync(demoRoot)) {
    const directory = path.join(demoRoot, name);
    const { mtimeMs } = statSync(directory);
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(directory, { recursive: true, force: true });
  }
}
