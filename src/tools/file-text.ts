import { cutEnd } from './cut-text';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** The byte order mark, if the file begins with one: hidden from the model, kept in the file. */
export function splitBom(bytes: Uint8Array): { readonly bom: Buffer; readonly body: Buffer } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hasBom = buffer.subarray(0, 3).equals(BOM);
  return { bom: buffer.subarray(0, hasBom ? 3 : 0), body: buffer.subarray(hasBom ? 3 : 0) };
}

/** What stands in the way of treating bytes as text, in words; undefined if they are UTF-8 text. */
export function notTextReason(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return 'it contains NUL bytes (a binary file, or UTF-16)';
  return decodeStrict(bytes) === undefined ? 'it is not valid UTF-8' : undefined;
}

/** The text, or undefined if the bytes are not UTF-8. */
export function decodeStrict(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What a file is by its first bytes, for the sentence "binary, not shown". */
export function describeBinary(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const known = SIGNATURES.find(([signature]) => head.startsWith(signature));
  return known?.[1] ?? 'unknown type';
}

const SIGNATURES: readonly (readonly [string, string])[] = [
  ['\x89PNG\r\n', 'PNG image'],
  ['\xff\xd8\xff', 'JPEG image'],
  ['GIF8', 'GIF image'],
  ['RIFF', 'RIFF file (WebP, WAV or AVI)'],
  ['%PDF-', 'PDF document'],
  ['PK\x03\x04', 'ZIP archive'],
  ['\x1f\x8b', 'gzip data'],
  ['\x7fELF', 'ELF program'],
  ['\0asm', 'WebAssembly module'],
  ['SQLite format 3', 'SQLite database'],
];

/** One line for people: the first line of the text, at most 120 characters. */
export function oneLine(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  const more = line.length < text.trim().length;
  const cut = line.slice(0, 118).replace(/\p{Surrogate}$/u, '');
  return cut.length < line.length || more ? `${cut} …` : cut;
}

/** Unified diff for people, cut to 8 KB. */
export function boundDiff(diff: string): string {
  const { text, omittedBytes } = cutEnd(diff, 8000);
  return omittedBytes === 0 ? text : `${text}\n… (${omittedBytes} more bytes of diff)\n`;
}
