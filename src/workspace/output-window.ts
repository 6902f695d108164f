import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { CommandOutput, OutputPart } from './ports';

/**
 * Head and tail of a file as text. Cuts fall on character borders: a sequence that a cut would split is left out whole
 * and counted. Bytes that are no UTF-8 at all become U+FFFD.
 */
export async function readOutputWindow(
  path: string,
  options: { readonly headBytes: number; readonly tailBytes: number },
): Promise<CommandOutput> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return { head: '', tail: '', headBytes: 0, omittedBytes: 0, totalBytes: 0 };
  try {
    const totalBytes = (await file.stat()).size;
    if (totalBytes <= options.headBytes + options.tailBytes) {
      const head = decode(await readAt(file, 0, totalBytes));
      return { head, tail: '', headBytes: totalBytes, omittedBytes: 0, totalBytes };
    }
    const head = trimEnd(await readAt(file, 0, options.headBytes));
    const tail = trimStart(await readAt(file, totalBytes - options.tailBytes, options.tailBytes));
    const omittedBytes = totalBytes - head.length - tail.length;
    return { head: decode(head), tail: decode(tail), headBytes: head.length, omittedBytes, totalBytes };
  } finally {
    await file.close();
  }
}

/** A part of a file as text; a character that begins before `from` or ends after the part is left out. */
export async function readOutputPart(
  path: string,
  { from, maxBytes }: { readonly from: number; readonly maxBytes: number },
): Promise<OutputPart> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return { text: '', from: 0, to: 0, totalBytes: 0 };
  try {
    const totalBytes = (await file.stat()).size;
    const start = Math.min(from, totalBytes);
    const whole = await readAt(file, start, Math.min(maxBytes, totalBytes - start));
    const fromBorder = start === 0 ? whole : trimStart(whole);
    const bytes = start + whole.length === totalBytes ? fromBorder : trimEnd(fromBorder);
    const first = start + whole.length - fromBorder.length;
    return { text: decode(bytes), from: first, to: first + bytes.length, totalBytes };
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes);
}

/** Drops a sequence at the end that is valid so far but not complete. */
function trimEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return sequenceLength(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Drops up to three continuation bytes at the start. */
function trimStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc2 ? 2 : 1;
}
