import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/**
 * Asks `probe` until it gives something other than `undefined`, `null` or `false`, and returns that.
 * @throws after `timeoutMs` (default 10 s), naming `what` was waited for and the last error of `probe`, if it threw.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 10_000, intervalMs = 20 }: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (isPresent(value)) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() >= deadline) {
      const reason = lastError instanceof Error ? `; the last try failed: ${lastError.message}` : '';
      throw new Error(`waited ${timeoutMs} ms in vain: ${what}${reason}`, { cause: lastError });
    }
    await sleep(intervalMs);
  }
}

function isPresent<T>(value: T): value is Exclude<T, undefined | null | false> {
  return value !== undefined && value !== null && value !== false;
}
