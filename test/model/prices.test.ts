import { costUsd, findModelInfo, PRICES_DATE } from '../../src/model/prices';

test.each([
  ['claude-sonnet-5-5', { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 }, 2],
  ['claude-sonnet-5-5', { input: 1200, output: 80, cacheRead: 10_000, cacheWrite: 400 }, 0.0052],
  ['claude-opus-4-5-20251101', { input: 0, output: 1_000_000, cacheRead: 0, cacheWrite: 0 }, 25],
  ['claude-haiku-5-5', { input: 0, output: 0, cacheRead: 24_000, cacheWrite: 0 }, 0.00024],
])('%s %j → %d USD', (model, usage, usd) => {
  expect(costUsd(model, usage)).toBeCloseTo(usd, 10);
});

test.each(['gpt-x', '', 'constructor', 'claude-sonnet-5-5-x', 'claude-sonnet-5-5-2025'])(
  'a model that is not in the table: %j → null, not 0',
  (model) => {
    expect(costUsd(model, { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 })).toBeNull();
    expect(findModelInfo(model)).toBeNull();
  },
);

test('the table → its date, windows and output limits', () => {
  expect(PRICES_DATE).toBe('2026-10-25');
  expect(findModelInfo('claude-sonnet-5-5')).toMatchObject({ windowTokens: 1_000_000, maxOutputTokens: 128_000 });
  expect(findModelInfo('claude-haiku-4-5-20251001')).toMatchObject({ windowTokens: 200_000, maxOutputTokens: 64_000 });
});
