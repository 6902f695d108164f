/** A text that fits, and how many bytes of the original are not in it. */
export interface CutText {
  readonly text: string;
  readonly omittedBytes: number;
}

/** How much of what is left goes to the head; ends of logs say more than their beginnings. */
const HEAD_SHARE = 0.4;

/**
 * Cuts the middle out of a text so that it takes at most `maxBytes` in UTF-8, the note included. Cuts fall between
 * characters and the result is well-formed. The note is told exactly how many bytes are missing.
 */
export function cutMiddle(text: string, maxBytes: number, note: (omittedBytes: number) => string): CutText {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text: bytes.toString(), omittedBytes: 0 };
  const room = maxBytes - Buffer.byteLength(note(bytes.length));
  if (room <= 0) return { text: cutEnd(note(bytes.length), maxBytes).text, omittedBytes: bytes.length };
  const head = borderBefore(bytes, Math.floor(room * HEAD_SHARE));
  const tail = borderAfter(bytes, bytes.length - (room - head));
  const omittedBytes = tail - head;
  const kept = [bytes.toString('utf8', 0, head), note(omittedBytes), bytes.toString('utf8', tail)];
  return { text: kept.join(''), omittedBytes };
}

/** Keeps the beginning, at most `maxBytes` in UTF-8. */
export function cutEnd(text: string, maxBytes: number): CutText {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text: bytes.toString(), omittedBytes: 0 };
  const end = borderBefore(bytes, Math.max(0, maxBytes));
  return { text: bytes.toString('utf8', 0, end), omittedBytes: bytes.length - end };
}

function borderBefore(bytes: Buffer, position: number): number {
  let at = position;
  while (at > 0 && isContinuation(bytes, at)) at -= 1;
  return at;
}

function borderAfter(bytes: Buffer, position: number): number {
  let at = position;
  while (at < bytes.length && isContinuation(bytes, at)) at += 1;
  return at;
}

function isContinuation(bytes: Buffer, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80;
}
