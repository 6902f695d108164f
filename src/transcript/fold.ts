import type { AddedRef, PlannedCall, ToolResult } from '../contract/activity';
import type { AssistantMessage, Message, UserBlock } from '../contract/message';
import { composeUserMessage, lastAssistant } from '../conversation/compose-message';
import { resultBlock } from '../conversation/record';

/** A reference that cannot be resolved here: history is truncated, or a cache does not have it. */
export class HistoryGap extends Error {
  override readonly name = 'HistoryGap';
}

/** Where references lead. */
export interface Lookup {
  readonly task: string;
  /** Text of a person's message. */
  message(id: string): string | undefined;
  /** The result of an activity, if it is the one with this random id. */
  result(activityId: string, id: string): CallResult | undefined;
}

/** What the model reads of a tool's result. */
export type CallResult = Pick<ToolResult, 'call' | 'status' | 'message'>;

/** A call as people name it, and the block of the assistant message that it is. */
export interface CallBlock {
  readonly call: string;
  readonly blockId: string;
}

export function callBlocks(turn: number, plans: readonly PlannedCall[]): CallBlock[] {
  return plans.map(({ n, blockId }) => ({ call: `${String(turn)}.${String(n)}`, blockId }));
}

/** Folds what model calls added and answered into messages. One instance folds one transcript. */
export interface Fold {
  readonly messages: readonly Message[];
  /** The user message that `refs` make, if any, is appended. @throws HistoryGap */
  add(refs: readonly AddedRef[]): void;
  /** The model's answer and the calls it holds. */
  answer(message: AssistantMessage, calls: readonly CallBlock[]): void;
}

export function createFold(lookup: Lookup, start: readonly Message[] = [], open: readonly CallBlock[] = []): Fold {
  const messages: Message[] = [...start];
  let calls = open;
  return {
    messages,
    add: (refs) => {
      const blocks = refs.flatMap((ref) => resolve(ref, calls, lookup));
      const message = composeUserMessage(lastAssistant(messages), blocks);
      if (message !== undefined) messages.push(message);
    },
    answer: (message, next) => {
      messages.push(message);
      calls = next;
    },
  };
}

function resolve(ref: AddedRef, calls: readonly CallBlock[], lookup: Lookup): UserBlock[] {
  if ('prepared' in ref) return [];
  if ('task' in ref) return [{ type: 'text', text: lookup.task }];
  if ('note' in ref) return [{ type: 'text', text: ref.note }];
  if ('inline' in ref) return [resultBlock(blockIdOf(calls, ref.inline.call), ref.inline.text, true)];
  if ('message' in ref) {
    const text = lookup.message(ref.message);
    if (text === undefined) throw new HistoryGap(`message ${ref.message} is not known`);
    return [{ type: 'text', text }];
  }
  const result = lookup.result(ref.activity, ref.id);
  if (result === undefined) throw new HistoryGap(`result ${ref.id} of ${ref.activity} is not known`);
  return [resultBlock(blockIdOf(calls, result.call), result.message, result.status !== 'success')];
}

function blockIdOf(calls: readonly CallBlock[], call: string): string {
  const found = calls.find((candidate) => candidate.call === call);
  if (found === undefined) throw new HistoryGap(`call ${call} is not one of the last message`);
  return found.blockId;
}
