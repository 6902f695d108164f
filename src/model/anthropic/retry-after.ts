/**
 * How long the endpoint asks to wait, in milliseconds from `nowMs`: `retry-after-ms` first, else `retry-after` as seconds
 * or as an HTTP date. `undefined` if it does not say, or says nothing sensible.
 */
export function readRetryAfter(header: (name: string) => string | null | undefined, nowMs: number): number | undefined {
  const ms = toNumber(header('retry-after-ms'));
  if (ms !== undefined) return ms;
  const after = header('retry-after')?.trim();
  if (after === undefined || after === '') return undefined;
  const seconds = toNumber(after);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(after);
  // Date.parse takes a bare negative number for a year.
  return Number.isNaN(date) || !/[a-z]/i.test(after) ? undefined : Math.max(0, date - nowMs);
}

function toNumber(value: string | null | undefined): number | undefined {
  const text = value?.trim() ?? '';
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
