import { readFileSync, readdirSync } from 'node:fs';

const O_CLOEXEC = 0o2000000;

/**
 * Descriptors above the standard ones that every program started by this process would inherit: what the worker itself
 * was given, for example the lock of a script that started it. To a sandbox each would be a way out.
 */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((fd) => fd > 2 && !closesOnExec(fd));
}

function closesOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/mu.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    // The descriptor with which the directory was read.
    return true;
  }
}

/** An argv that closes descriptors and then becomes the program of `argv`. Only bash can name those above nine. */
export function closingArgv(descriptors: readonly number[], argv: readonly string[]): readonly string[] {
  if (descriptors.length === 0) return argv;
  const closing = descriptors.map((fd) => `${fd}>&-`).join(' ');
  return ['/bin/bash', '-c', `exec ${closing}; exec "$@"`, 'surehand-close', ...argv];
}
