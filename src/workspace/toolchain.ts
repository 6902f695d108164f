import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What to bind and to put on PATH so that a program outside `/usr` works in the sandbox. */
export interface Toolchain {
  readonly mounts: readonly string[];
  readonly binDirectories: readonly string[];
}

/**
 * Finds out for one program, usually the node that runs the worker. Its whole installation (for npm beside node) is
 * bound only if it looks like one; else just the file, because the directory might be somebody's home.
 */
export function findToolchain(program: string): Toolchain {
  const real = existsSync(program) ? realpathSync(program) : program;
  const systemwide = real.startsWith('/usr/') || real.startsWith('/bin/');
  if (systemwide || !existsSync(real)) return { mounts: [], binDirectories: [] };
  const bin = dirname(real);
  const prefix = dirname(bin);
  const installed = existsSync(join(prefix, 'lib', 'node_modules', 'npm')) && prefix !== '/';
  return { mounts: [installed ? prefix : real], binDirectories: [bin] };
}
