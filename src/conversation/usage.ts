import type { Spent } from '../contract/activity';
import type { Usage } from '../contract/message';

const NOTHING: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Adds one call's counters to the sum of its model. */
export function addUsage(
  sums: Readonly<Record<string, Usage>>,
  model: string,
  usage: Usage,
): Readonly<Record<string, Usage>> {
  // The name comes from the endpoint: `constructor` must not find what every object inherits.
  const before = (Object.hasOwn(sums, model) ? sums[model] : undefined) ?? NOTHING;
  const sum = {
    input: before.input + usage.input,
    output: before.output + usage.output,
    cacheRead: before.cacheRead + usage.cacheRead,
    cacheWrite: before.cacheWrite + usage.cacheWrite,
  };
  return { ...sums, [model]: sum };
}

/** Adds what tries cost that brought no answer: they are paid all the same. */
export function addSpent<Sums extends Spent>(sums: Sums, spent: Spent | undefined): Sums {
  if (spent === undefined) return sums;
  const usage = Object.entries(spent.usage).reduce((all, [model, one]) => addUsage(all, model, one), sums.usage);
  return { ...sums, usage, costUsd: addCost(sums.costUsd, spent.costUsd) };
}

/** All four counters of all models. */
export function totalTokens(sums: Readonly<Record<string, Usage>>): number {
  return Object.values(sums).reduce(
    (total, usage) => total + usage.input + usage.output + usage.cacheRead + usage.cacheWrite,
    0,
  );
}

/** A sum with one unknown part is unknown, never too low. */
export function addCost(sum: number | null, cost: number | null): number | null {
  return sum === null || cost === null ? null : sum + cost;
}
