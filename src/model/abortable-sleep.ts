import { setTimeout as sleep } from 'node:timers/promises';

/** Waits; an abort ends it at once by throwing the signal's reason (Node's own throws an `AbortError` about it). */
export async function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
