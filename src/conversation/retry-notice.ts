import type { FailureClass, PortFailure } from '../contract/failure';

/** How people are told why a step is tried again. */
const WORDS: Partial<Record<FailureClass, string>> = {
  rate_limited: 'rate limited',
  server_error: 'server error',
  connection: 'no connection',
};

/** `overloaded, 3rd try in 12 s, gives up in 22 min`; `undefined` for a failure that no try follows. */
export function retryNotice({ class: kind, nextTry }: PortFailure, now: number): string | undefined {
  if (nextTry === undefined) return undefined;
  const waitMs = nextTry.at - now;
  const when = waitMs < 1_000 ? 'now' : `in ${shortTime(waitMs)}`;
  const word = WORDS[kind] ?? kind;
  return `${word}, ${ordinal(nextTry.number)} try ${when}, gives up in ${shortTime(nextTry.givesUpAt - now)}`;
}

/** `12 s`, `22 min`, `3 h`. */
export function shortTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${String(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${String(minutes)} min` : `${String(Math.round(minutes / 60))} h`;
}

/** `1st`, `2nd`, `3rd`, `11th`. */
export function ordinal(number: number): string {
  const tens = number % 100;
  const suffix = tens > 10 && tens < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return `${String(number)}${suffix}`;
}
