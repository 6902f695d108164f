import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

export interface RotatingFile {
  /** Appends at once, without a buffer, so that the last words before a crash are there. Never throws. */
  write(text: string): void;
  close(): void;
}

const MAX_BYTES = 5 * 1024 * 1024;
/** `<path>.1` to `<path>.4`, the newest first. */
export const ROTATED_KEPT = 4;

/**
 * A log that one process writes. One that would grow over `maxBytes` becomes `<path>.1` first, and the oldest is dropped.
 * @throws when the file cannot be opened; later trouble (a full disk) loses lines, not the process.
 */
export function openRotatingFile(path: string, maxBytes = MAX_BYTES): RotatingFile {
  let descriptor = openAppending(path);
  let size = fstatSync(descriptor).size;
  const rotate = (): void => {
    for (let number = ROTATED_KEPT - 1; number > 0; number -= 1) {
      moveIfThere(`${path}.${String(number)}`, `${path}.${String(number + 1)}`);
    }
    moveIfThere(path, `${path}.1`);
    const next = openAppending(path);
    closeSync(descriptor);
    descriptor = next;
    size = 0;
  };
  return {
    write: (text) => {
      try {
        const bytes = Buffer.byteLength(text);
        if (size > 0 && size + bytes > maxBytes) rotate();
        writeSync(descriptor, text);
        size += bytes;
      } catch {
        // Nobody can be told: this is where telling goes.
      }
    },
    close: () => closeSync(descriptor),
  };
}

function openAppending(path: string): number {
  return openSync(path, 'a', 0o600);
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // There was none.
  }
}
