import type { Spent } from '../contract/activity';
import { addCost, addUsage } from '../conversation/usage';
import type { ModelResponse } from '../model/port';
import type { Host } from './host';

type Counted = Pick<ModelResponse, 'model' | 'usage'>;

/** Adds up what the tries of one model call cost. */
export interface Spending {
  /** The tries before this one. */
  readonly before: Spent | undefined;
  /** What the endpoint has told of this try so far. */
  now(counted: Counted): void;
  total(): Spent | undefined;
}

export function createSpending(costUsd: Host['costUsd'], before: Spent | undefined): Spending {
  let current: Counted | undefined;
  return {
    before,
    now: (counted) => {
      current = counted;
    },
    total: () => {
      if (current === undefined) return before;
      const { model, usage } = current;
      return {
        usage: addUsage(before?.usage ?? {}, model, usage),
        costUsd: addCost(before === undefined ? 0 : before.costUsd, costUsd(model, usage)),
      };
    },
  };
}
