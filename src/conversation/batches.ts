import type { CallState } from './conversation';

/** Read-only calls that may run at the same time. */
const MAX_CONCURRENT_READS = 8;

/**
 * The calls to run next: neighbouring reads together, a change alone, in the order the model gave. A call with a result
 * is passed over; an open ask holds back everything behind it.
 */
export function nextBatch(calls: readonly CallState[]): CallState[] {
  const batch: CallState[] = [];
  for (const call of calls) {
    if (call.settled !== undefined) continue;
    if (call.ask === 'open') return batch;
    if (call.plan.effect === 'write') return batch.length === 0 ? [call] : batch;
    batch.push(call);
    if (batch.length === MAX_CONCURRENT_READS) return batch;
  }
  return batch;
}
