/** UTF-8 bytes of a string. Lone surrogates count as the three bytes of their replacement. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.codePointAt(index) as number;
    bytes += codePointBytes(code);
    if (code > 0xffff) index += 1;
  }
  return bytes;
}

/** UTF-8 bytes of one code point. */
export function codePointBytes(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** UTF-8 bytes of a value's JSON; 0 for a value that JSON cannot say. */
export function jsonBytes(value: unknown): number {
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? 0 : utf8Bytes(json);
}

/**
 * The same for a string, finite number, boolean or null, without writing the JSON. No global is used on the way: reading
 * one is slow in the workflow's sandbox.
 */
export function leafBytes(value: unknown): number {
  if (typeof value === 'string') return stringBytes(value);
  if (typeof value === 'number') return `${value}`.length;
  if (value === null || value === true) return 4;
  return value === false ? 5 : jsonBytes(value);
}

function stringBytes(text: string): number {
  let bytes = 2;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.codePointAt(index) as number;
    if (code > 0xffff) index += 1;
    bytes += isEscaped(code) ? escapeBytes(code) : codePointBytes(code);
  }
  return bytes;
}

function isEscaped(code: number): boolean {
  return code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff);
}

/** A letter behind a backslash (quote, backslash, \b \t \n \f \r), else four digits. */
function escapeBytes(code: number): number {
  const short = code === 0x22 || code === 0x5c || (code >= 0x08 && code <= 0x0d && code !== 0x0b);
  return short ? 2 : 6;
}
