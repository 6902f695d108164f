import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../contract/names';
import type { RunState } from '../contract/outcome';
import type { RunInput } from '../contract/run-input';
import type { Todo } from '../contract/todo';
import type { Conversation } from '../conversation/conversation';

const TYPE_OF = { Keyword: 'KEYWORD', Int: 'INT', Double: 'DOUBLE' } as const;

/** What people see of a run from outside: its state, and what it does or waits for now. */
export interface Report {
  readonly state: RunState;
  readonly doing: string;
  /** Changes what the Web UI says now; costs no history. */
  now(doing: string, state?: RunState): void;
  /** The model's plan, below what the run does now. */
  plan(todos: readonly Todo[]): void;
  /** Writes the search attributes; costs one history event, so at most once a turn and when the state changes. */
  publish(conversation: Conversation, state?: RunState): void;
}

/** @param background what stands below, on the page of a run that took over from the one before. */
export function createReport(input: RunInput, background: string): Report {
  let state: RunState = 'working';
  let doing = 'starting';
  let published = '';
  let plan = '';
  const show = (): void => {
    setCurrentDetails(`**${state}** · ${doing}${plan}${background}`);
  };

  return {
    get state() {
      return state;
    },
    get doing() {
      return doing;
    },
    now: (text, next = state) => {
      state = next;
      doing = text;
      show();
    },
    plan: (todos) => {
      plan = todos.length === 0 ? '' : `\n\n${todos.map(planLine).join('\n')}`;
      show();
    },
    publish: (conversation, next = state) => {
      state = next;
      const pairs = attributePairs(input.searchAttributes, {
        SurehandState: next,
        SurehandTurns: conversation.turn,
        ...(conversation.costUsd === null ? {} : { SurehandCostUsd: conversation.costUsd }),
      });
      const print = JSON.stringify(pairs.map(({ value }) => value as string | number));
      if (pairs.length === 0 || print === published) return;
      published = print;
      upsertSearchAttributes(pairs);
    },
  };
}

const MARKS = { pending: ' ', in_progress: '…', completed: 'x' } as const;

function planLine({ text, status }: Todo): string {
  return `- [${MARKS[status]}] ${text}`;
}

/** Only what the starter found registered: an unregistered attribute blocks the run for ever. */
function attributePairs(
  registered: readonly SearchAttributeName[],
  values: Partial<Record<SearchAttributeName, string | number>>,
): SearchAttributePair[] {
  return registered.flatMap((name): SearchAttributePair[] => {
    const value = values[name];
    const key = defineSearchAttributeKey(name, TYPE_OF[SEARCH_ATTRIBUTES[name]]);
    return value === undefined ? [] : [{ key, value } as SearchAttributePair];
  });
}
