import { createModelTable, findModelInfo } from '../../src/config-models';
import { createPricing } from '../../src/model/prices';

const models = createModelTable();
const costUsd = createPricing((model) => findModelInfo(models, model));

test.each([
  ['claude-sonnet-5-5', { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 }, 2],
  ['claude-sonnet-5-5', { input: 1200, output: 80, cacheRead: 10_000, cacheWrite: 400 }, 0.0052],
  ['claude-opus-4-5-20251101', { input: 0, output: 1_000_000, cacheRead: 0, cacheWrite: 0 }, 25],
  ['claude-haiku-5-5', { input: 0, output: 0, cacheRead: 24_000, cacheWrite: 0 }, 0.00024],
])('%s %j → %d USD', (model, usage, usd) => {
  expect(costUsd(model, usage)).toBeCloseTo(usd, 10);
});

test('a model that is not known → null, not 0', () => {
  expect(costUsd('gpt-x', { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 })).toBeNull();
});
