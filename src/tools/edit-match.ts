/** A place in the original bytes: `end` is exclusive. */
export interface MatchRange {
  readonly start: number;
  readonly end: number;
}

const CR = 0x0d;
const LF = 0x0a;

/**
 * Finds `wanted` in a file's bytes, left to right, never overlapping. In a file with CRLF endings `\n` and `\r\n` match
 * either ending, because the model was shown lines without their endings; all other bytes must be equal.
 */
export function findMatches(body: Buffer, wanted: Buffer): readonly MatchRange[] {
  if (!body.includes('\r\n')) return search(body, wanted);
  const { text, removed } = dropCarriageReturns(body);
  const needle = dropCarriageReturns(wanted).text;
  const toOriginal = offsetMapper(removed);
  return search(text, needle).map(({ start, end }) => ({ start: toOriginal(start), end: toOriginal(end) }));
}

/**
 * The replacement with the file's own line endings: its n-th ending is the n-th of what it replaces, further ones are
 * like the last of these, else like the ending nearest to the match. Files without CRLF get the bytes as they are.
 */
export function fitLineEndings(body: Buffer, range: MatchRange, replacement: Buffer): Buffer {
  if (!body.includes('\r\n')) return replacement;
  const replaced = endingsOf(body.subarray(range.start, range.end));
  const fallback = replaced.at(-1) ?? nearestEnding(body, range);
  const parts: Buffer[] = [];
  let from = 0;
  let index = 0;
  const plain = dropCarriageReturns(replacement).text;
  for (let at = plain.indexOf(LF); at !== -1; at = plain.indexOf(LF, from)) {
    parts.push(plain.subarray(from, at), Buffer.from(replaced[index] ?? fallback));
    from = at + 1;
    index += 1;
  }
  return Buffer.concat([...parts, plain.subarray(from)]);
}

/** Line numbers, from 1, on which matches begin. */
export function lineNumbers(body: Buffer, ranges: readonly MatchRange[]): readonly number[] {
  return ranges.map(({ start }) => 1 + countLines(body.subarray(0, start)));
}

function search(body: Buffer, wanted: Buffer): readonly MatchRange[] {
  const found: MatchRange[] = [];
  if (wanted.length === 0) return found;
  for (let at = body.indexOf(wanted); at !== -1; at = body.indexOf(wanted, at + wanted.length)) {
    found.push({ start: at, end: at + wanted.length });
  }
  return found;
}

/** The bytes without each CR before a LF, and where, in the result, one was taken out. */
function dropCarriageReturns(bytes: Buffer): { readonly text: Buffer; readonly removed: readonly number[] } {
  const text = Buffer.allocUnsafe(bytes.length);
  const removed: number[] = [];
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === CR && bytes[at + 1] === LF) removed.push(length);
    else text[length++] = bytes[at] ?? 0;
  }
  return { text: text.subarray(0, length), removed };
}

/** A match that begins or ends at a LF begins or ends at its CR: the ending is taken or left whole. */
function offsetMapper(removed: readonly number[]): (offset: number) => number {
  return (offset) => {
    let low = 0;
    let high = removed.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((removed[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return offset + low;
  };
}

function endingsOf(bytes: Buffer): readonly string[] {
  const endings: string[] = [];
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    endings.push(bytes[at - 1] === CR ? '\r\n' : '\n');
  }
  return endings;
}

function nearestEnding(body: Buffer, range: MatchRange): string {
  const after = body.indexOf(LF, range.end);
  const at = after === -1 ? body.lastIndexOf(LF, range.start) : after;
  return at > 0 && body[at - 1] === CR ? '\r\n' : '\n';
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return lines;
}
