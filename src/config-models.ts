import type { Settings } from './config-schema';
import type { ModelInfo } from './contract/model-info';

/** Day of the price list that the table was taken from. */
export const PRICES_DATE = '2026-10-25';

/** For a model that only the settings know. */
const DEFAULT_CONTEXT_TOKENS = 200_000;
const DEFAULT_MAX_OUTPUT_TOKENS = 64_000;

type Row = readonly [
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  contextTokens: number,
  maxOutputTokens: number,
];

/** Prices in USD per million tokens. */
const TABLE: Readonly<Record<string, Row>> = {
  'claude-fable-5': [10, 50, 1, 12.5, 1_000_000, 128_000],
  'claude-fable-5-1': [10, 50, 0.25, 12.5, 1_000_000, 128_000],
  'claude-haiku-4-5': [1, 5, 0.1, 1.25, 200_000, 64_000],
  'claude-haiku-5-5': [0.1, 0.5, 0.01, 0.125, 1_000_000, 128_000],
  'claude-mythos-5': [10, 50, 1, 12.5, 1_000_000, 128_000],
  'claude-mythos-5-1': [10, 50, 0.25, 12.5, 1_000_000, 128_000],
  'claude-mythos-preview': [10, 50, 1, 12.5, 1_000_000, 128_000],
  'claude-opus-4-5': [5, 25, 0.5, 6.25, 200_000, 64_000],
  'claude-opus-4-6': [5, 25, 0.5, 6.25, 1_000_000, 128_000],
  'claude-opus-4-7': [5, 25, 0.5, 6.25, 1_000_000, 128_000],
  'claude-opus-4-8': [5, 25, 0.5, 6.25, 1_000_000, 128_000],
  'claude-opus-5': [5, 25, 0.5, 6.25, 1_000_000, 128_000],
  'claude-opus-5-5': [4, 20, 0.2, 5, 1_000_000, 128_000],
  'claude-sonnet-4-5': [3, 15, 0.3, 3.75, 200_000, 64_000],
  'claude-sonnet-4-6': [3, 15, 0.3, 3.75, 1_000_000, 128_000],
  'claude-sonnet-5': [2, 10, 0.2, 2.5, 1_000_000, 128_000],
  'claude-sonnet-5-5': [2, 10, 0.1, 2.5, 1_000_000, 128_000],
};

/** What is known about models, by name. */
export type ModelTable = Readonly<Record<string, ModelInfo>>;

/** The dated table, with what the settings say put over it. */
export function createModelTable(prices: Settings['prices'] = {}): ModelTable {
  const models = new Map(Object.entries(TABLE).map(([model, row]) => [model, fromRow(row)]));
  for (const [model, own] of Object.entries(prices)) {
    const known = models.get(model);
    models.set(model, {
      price: {
        input: own.input,
        output: own.output,
        cacheRead: own.cacheRead ?? own.input,
        cacheWrite: own.cacheWrite ?? own.input,
      },
      contextTokens: own.contextTokens ?? known?.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
      maxOutputTokens: own.maxOutputTokens ?? known?.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    });
  }
  return Object.fromEntries(models);
}

/** A dated id (`…-20251101`) is the model of its name. `null`, never a guess, for a model that is not in the table. */
export function findModelInfo(models: ModelTable, model: string): ModelInfo | null {
  const find = (name: string): ModelInfo | undefined => (Object.hasOwn(models, name) ? models[name] : undefined);
  return find(model) ?? find(model.replace(/-\d{8}$/, '')) ?? null;
}

function fromRow([input, output, cacheRead, cacheWrite, contextTokens, maxOutputTokens]: Row): ModelInfo {
  return { price: { input, output, cacheRead, cacheWrite }, contextTokens, maxOutputTokens };
}
