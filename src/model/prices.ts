import type { Usage } from '../contract/message';

export interface ModelInfo {
  /** USD per million tokens. */
  readonly price: Usage;
  readonly windowTokens: number;
  readonly maxOutputTokens: number;
}

/** Day of the price list that the table was taken from. */
export const PRICES_DATE = '2026-10-25';

type Row = readonly [
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  windowTokens: number,
  maxOutputTokens: number,
];

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

const MODELS: ReadonlyMap<string, ModelInfo> = new Map(
  Object.entries(TABLE).map(([model, [input, output, cacheRead, cacheWrite, windowTokens, maxOutputTokens]]) => [
    model,
    { price: { input, output, cacheRead, cacheWrite }, windowTokens, maxOutputTokens },
  ]),
);

/** What is known about a model; a dated id (`…-20251101`) is the model of its name. `null` if it is not in the table. */
export function findModelInfo(model: string): ModelInfo | null {
  return MODELS.get(model) ?? MODELS.get(model.replace(/-\d{8}$/, '')) ?? null;
}

/** Cost of one call in USD by the dated table; `null`, never 0, for a model that is not in it. */
export function costUsd(model: string, usage: Usage): number | null {
  const info = findModelInfo(model);
  if (info === null) return null;
  const { price } = info;
  const millionths =
    usage.input * price.input +
    usage.output * price.output +
    usage.cacheRead * price.cacheRead +
    usage.cacheWrite * price.cacheWrite;
  return millionths / 1_000_000;
}
