import { createModelTable, findModelInfo, PRICES_DATE } from '../src/config-models';

test('the table → its date, prices, windows and output limits', () => {
  expect(PRICES_DATE).toBe('2026-10-25');
  const models = createModelTable();
  expect(Object.keys(models)).toHaveLength(17);
  expect(findModelInfo(models, 'claude-sonnet-5-5')).toEqual({
    price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
    contextTokens: 1_000_000,
    maxOutputTokens: 128_000,
  });
});

test('a dated id → the model of its name', () => {
  expect(findModelInfo(createModelTable(), 'claude-haiku-4-5-20251001')).toMatchObject({
    contextTokens: 200_000,
    maxOutputTokens: 64_000,
  });
});

test.each(['gpt-x', '', 'constructor', 'claude-sonnet-5-5-x', 'claude-sonnet-5-5-2025'])(
  'a model that is not in the table: %j → null',
  (model) => {
    expect(findModelInfo(createModelTable(), model)).toBeNull();
  },
);

test('prices of the settings → put over the table; what they do not say stays, or costs what other input does', () => {
  const models = createModelTable({
    'claude-haiku-4-5': { input: 2, output: 6, cacheRead: 0.2 },
    'lab-7b': { input: 0.3, output: 0.6, contextTokens: 32_000 },
  });
  expect(findModelInfo(models, 'claude-haiku-4-5')).toEqual({
    price: { input: 2, output: 6, cacheRead: 0.2, cacheWrite: 2 },
    contextTokens: 200_000,
    maxOutputTokens: 64_000,
  });
  expect(findModelInfo(models, 'lab-7b')).toEqual({
    price: { input: 0.3, output: 0.6, cacheRead: 0.3, cacheWrite: 0.3 },
    contextTokens: 32_000,
    maxOutputTokens: 64_000,
  });
});
