/** Left over for a closing sentence. */
const NOTE_BYTES = 400;

/** As many whole lines, from the first, as fit into `maxBytes` beside a closing sentence. */
export function fitLines(
  lines: readonly string[],
  maxBytes: number,
): { readonly lines: readonly string[]; readonly omitted: number } {
  let used = NOTE_BYTES;
  const fitting: string[] = [];
  for (const line of lines) {
    used += Buffer.byteLength(line) + 1;
    if (used > maxBytes) break;
    fitting.push(line);
  }
  return { lines: fitting, omitted: lines.length - fitting.length };
}
