import { planRetry, type RetryBudget } from '../../src/activities/retry-plan';
import { DEFAULTS } from '../../src/config-schema';
import type { PortFailure } from '../../src/contract/failure';

const NOW = 1_000_000;
const failure: PortFailure = { class: 'overloaded', retryable: true, detail: 'api.test is overloaded.' };
const budget: RetryBudget = {
  tryNumber: 2,
  maxTries: 200,
  startedAt: NOW - 480_000,
  budgetMs: 1_800_000,
  initialMs: 1_000,
  maxMs: 60_000,
};
const plan = (change: Partial<PortFailure> = {}, parts: Partial<RetryBudget> = {}, random = 0) =>
  planRetry({ ...failure, ...change }, { ...budget, ...parts }, { now: NOW, random });

test.each([
  [1, 1_000],
  [2, 2_000],
  [6, 32_000],
  [7, 60_000],
  [150, 60_000],
])('try %i failed → the next one comes after %i ms, more with jitter', (tryNumber, waitMs) => {
  expect(plan({}, { tryNumber })).toEqual({
    ...failure,
    retryAfterMs: waitMs,
    nextTry: { number: tryNumber + 1, at: NOW + waitMs, givesUpAt: NOW + 1_320_000 },
  });
  const most = plan({}, { tryNumber }, 1).retryAfterMs ?? 0;
  expect(most).toBeGreaterThan(waitMs);
  expect(most).toBeLessThanOrEqual(waitMs + 5_000);
});

test.each([
  ['longer than the back-off', 600_000, 600_000],
  ['shorter', 500, 2_000],
])('the endpoint asks for a time that is %s → the longer of the two', (_, retryAfterMs, waitMs) => {
  expect(plan({ retryAfterMs }).retryAfterMs).toBe(waitMs);
});

test('the endpoint asks for more time than is left → final, still a failure that may pass, and it says why', () => {
  expect(plan({ retryAfterMs: 3_600_000 })).toEqual({
    class: 'overloaded',
    retryable: true,
    gaveUp: true,
    detail:
      'api.test is overloaded. Given up after 2 tries in 8 min; it asks to wait 60 min, which is longer than the run may.',
  });
});

test.each<[string, Partial<RetryBudget>, string]>([
  ['the time is up', { startedAt: NOW - 1_799_500 }, ' Given up after 2 tries in 30 min.'],
  ['the tries are used up', { maxTries: 2 }, ' Given up after 2 tries in 8 min.'],
  ['there was one try', { tryNumber: 1, maxTries: 1 }, ' Given up after 1 try in 8 min.'],
])('%s → final', (_, parts, words) => {
  expect(plan({}, parts)).toMatchObject({ gaveUp: true, detail: `api.test is overloaded.${words}` });
});

test('a failure that no try mends → as it is', () => {
  const refused: PortFailure = { class: 'unauthenticated', retryable: false, detail: 'no' };
  expect(planRetry(refused, budget, { now: NOW, random: 1 })).toBe(refused);
});

test('the defaults → unattended half an hour of tries; attended as long as it says; the number of tries decides neither', () => {
  const { limits, timeouts } = DEFAULTS;
  for (const budgetMs of [limits.modelWaitUnattendedMs, limits.modelWaitMs]) {
    let elapsedMs = 0;
    for (let tryNumber = 1; ; tryNumber += 1) {
      const parts = { tryNumber, maxTries: timeouts.modelAttempts, startedAt: NOW - elapsedMs, budgetMs };
      const next = plan({}, { ...parts, initialMs: timeouts.retryInitialMs, maxMs: timeouts.retryMaxMs });
      if (next.gaveUp === true) break;
      elapsedMs += next.retryAfterMs ?? 0;
    }
    expect(elapsedMs).toBeGreaterThan(budgetMs - timeouts.retryMaxMs);
    expect(elapsedMs).toBeLessThanOrEqual(budgetMs);
  }
  expect(limits.modelWaitUnattendedMs).toBe(1_800_000);
});
