import type { PortFailure } from '../../src/contract/failure';
import { ordinal, retryNotice, shortTime } from '../../src/conversation/retry-notice';

const NOW = 1_000_000;
const failure = (kind: PortFailure['class'], waitMs: number): PortFailure => ({
  class: kind,
  retryable: true,
  detail: 'busy',
  nextTry: { number: 3, at: NOW + waitMs, givesUpAt: NOW + 1_320_000 },
});

test.each([
  ['overloaded', 12_000, 'overloaded, 3rd try in 12 s, gives up in 22 min'],
  ['rate_limited', 600_000, 'rate limited, 3rd try in 10 min, gives up in 22 min'],
  ['connection', 400, 'no connection, 3rd try now, gives up in 22 min'],
  ['stalled', -5_000, 'stalled, 3rd try now, gives up in 22 min'],
] as const)('%s with the next try in %i ms → %s', (kind, waitMs, words) => {
  expect(retryNotice(failure(kind, waitMs), NOW)).toBe(words);
});

test('a failure that no try follows → nothing', () => {
  expect(retryNotice({ class: 'billing', retryable: false, detail: 'no' }, NOW)).toBeUndefined();
});

test.each([
  [1, '1st'],
  [2, '2nd'],
  [4, '4th'],
  [11, '11th'],
  [13, '13th'],
  [22, '22nd'],
  [111, '111th'],
])('%i → %s', (number, text) => {
  expect(ordinal(number)).toBe(text);
});

test.each([
  [-1, '0 s'],
  [119_400, '119 s'],
  [120_000, '2 min'],
  [7_140_000, '119 min'],
  [604_800_000, '168 h'],
])('%i ms → %s', (ms, text) => {
  expect(shortTime(ms)).toBe(text);
});
