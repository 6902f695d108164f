import { restartDelayMs } from '../../src/server/keep-running';

test.each([
  [0, 0],
  [1, 0],
  [2, 500],
  [3, 1_000],
  [4, 2_000],
  [5, 4_000],
  [6, 8_000],
  [7, 10_000],
  [50, 10_000],
])('%i failures in a row → the next start comes after %i ms', (failures, delayMs) => {
  expect(restartDelayMs(failures)).toBe(delayMs);
});
