const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `0.3 s`, `12.4 s`, `3 min 05 s`, `2 h 07 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < HOUR_MS) return `${String(Math.floor(ms / MINUTE_MS))} min ${pad((ms % MINUTE_MS) / SECOND_MS)} s`;
  if (ms < DAY_MS) return `${String(Math.floor(ms / HOUR_MS))} h ${pad((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${String(Math.floor(ms / DAY_MS))} d ${String(Math.floor((ms % DAY_MS) / HOUR_MS))} h`;
}

/** How long ago, in its largest unit: `now`, `40 s`, `5 min`, `3 h`, `2 d`. */
export function formatAge(ms: number): string {
  if (ms < SECOND_MS) return 'now';
  if (ms < MINUTE_MS) return `${String(Math.floor(ms / SECOND_MS))} s`;
  if (ms < HOUR_MS) return `${String(Math.floor(ms / MINUTE_MS))} min`;
  return ms < DAY_MS ? `${String(Math.floor(ms / HOUR_MS))} h` : `${String(Math.floor(ms / DAY_MS))} d`;
}

/** `1,234,567`, whatever the machine's locale. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 turn`, `2 turns`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `512 bytes`, `4.2 KB`, `1.3 MB`, `76.6 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return countOf(bytes, 'byte');
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KB`;
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MB` : `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

/** `$0.0123` below ten cents, else `$1.23`. */
export function formatCost(usd: number): string {
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/**
 * Milliseconds of `90s`, `10m`, `1h30m`, `2d`, `500ms`; a bare number means seconds. `undefined` for anything else, and
 * for zero.
 */
export function parseDuration(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return positive(Number(text) * SECOND_MS);
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  const units: Record<string, number> = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  return positive(parts.reduce((total, [, amount, unit]) => total + Number(amount) * (units[unit ?? ''] ?? 0), 0));
}

function positive(ms: number): number | undefined {
  return ms > 0 && Number.isSafeInteger(Math.round(ms)) ? Math.round(ms) : undefined;
}

function pad(value: number): string {
  return String(Math.floor(value)).padStart(2, '0');
}
