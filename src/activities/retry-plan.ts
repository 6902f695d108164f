import type { PortFailure } from '../contract/failure';
import { shortTime } from '../conversation/retry-notice';

export interface RetryBudget {
  /** Number of the try that failed, from 1. */
  readonly tryNumber: number;
  readonly maxTries: number;
  /** When the first try could begin, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** How long after that a try may still begin. */
  readonly budgetMs: number;
  /** Back-off before the second try; it doubles up to `maxMs`. */
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Conversations that failed together do not come back together. */
const JITTER = 0.25;
const MAX_JITTER_MS = 5_000;

/**
 * What follows a failed try. The wait is the back-off, or what the other side asked for if that is longer, plus some
 * jitter; `retryAfterMs` of the result is that wait. When it would end after the budget, or no try is left, the failure
 * is final and says so. Pure: `random` is between 0 and 1.
 */
export function planRetry(
  failure: PortFailure,
  budget: RetryBudget,
  { now, random }: { readonly now: number; readonly random: number },
): PortFailure {
  if (!failure.retryable) return failure;
  const { retryAfterMs, ...rest } = failure;
  const floorMs = Math.max(backOffMs(budget), retryAfterMs ?? 0);
  const waitMs = Math.ceil(floorMs + Math.min(floorMs * JITTER, MAX_JITTER_MS) * random);
  const givesUpAt = budget.startedAt + budget.budgetMs;
  if (budget.tryNumber < budget.maxTries && now + waitMs <= givesUpAt) {
    return { ...rest, retryAfterMs: waitMs, nextTry: { number: budget.tryNumber + 1, at: now + waitMs, givesUpAt } };
  }
  const tries = budget.tryNumber === 1 ? '1 try' : `${String(budget.tryNumber)} tries`;
  const asked = retryAfterMs !== undefined && now + retryAfterMs > givesUpAt;
  const why = asked ? `; it asks to wait ${shortTime(retryAfterMs)}, which is longer than the run may` : '';
  const said = rest.detail.replace(/[^.!?…]$/, '$&.');
  return {
    ...rest,
    gaveUp: true,
    detail: `${said} Given up after ${tries} in ${shortTime(now - budget.startedAt)}${why}.`,
  };
}

function backOffMs({ initialMs, maxMs, tryNumber }: RetryBudget): number {
  return Math.min(maxMs, initialMs * 2 ** Math.min(tryNumber - 1, 30));
}
