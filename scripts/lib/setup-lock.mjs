import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { SetupError, say } from './say.mjs';

/**
 * Runs `work` while no other process does the same for this path. The lock is the kernel's (`flock` on an open
 * descriptor), so it ends with the process however that ends, and there is no stale lock to clean up.
 */
export async function withLock(file, work) {
  const descriptor = openLockFile(file);
  try {
    if (!(await flock(descriptor, ['-n']))) {
      say('another set-up is running in this checkout; waiting for it');
      if (!(await flock(descriptor, []))) {
        throw new SetupError(`the lock ${file} could not be taken.`, 'Look whether its file system supports flock.');
      }
    }
    return await work();
  } finally {
    closeSync(descriptor);
  }
}

function openLockFile(file) {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    return openSync(file, 'a');
  } catch (error) {
    throw new SetupError(
      `${path.dirname(file)} cannot be written (${error.code}).`,
      'Give this checkout to the user who runs it, or clone it to a directory of your own.',
    );
  }
}

function flock(descriptor, flags) {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', [...flags, '-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] });
    child.on('error', () =>
      reject(new SetupError('flock is missing.', 'Install it (Debian, Ubuntu: apt-get install util-linux).')),
    );
    child.on('close', (code) => resolve(code === 0));
  });
}
