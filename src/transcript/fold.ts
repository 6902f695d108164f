import type { AddedRef, CompactedRef, PlannedCall, ToolResult } from '../contract/activity';
import type { AssistantMessage, Message, UserBlock, UserMessage } from '../contract/message';
import { compactedWindow } from '../conversation/compaction';
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
  /** The message that a summary put at the head of the window; `carried`: it stands there already. */
  head(ref: CompactedRef): UserMessage | 'carried' | undefined;
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
  /** The whole conversation, whatever was summarized since. */
  readonly messages: readonly Message[];
  /** What the model gets. */
  window(): readonly Message[];
  /** The user message that `refs` make, if any, is appended. @throws HistoryGap */
  add(refs: readonly AddedRef[]): void;
  /** The model's answer and the calls it holds. */
  answer(message: AssistantMessage, calls: readonly CallBlock[]): void;
}

export function createFold(lookup: Lookup, start: readonly Message[] = [], open: readonly CallBlock[] = []): Fold {
  const messages: Message[] = [...start];
  let window = [...start];
  let calls = open;
  const append = (message: Message): void => {
    messages.push(message);
    window.push(message);
  };
  return {
    messages,
    window: () => window,
    add: (refs) => {
      for (const ref of refs) {
        if (!('compacted' in ref)) continue;
        const head = lookup.head(ref);
        if (head === undefined) throw new HistoryGap(`summary ${ref.compacted} is not known`);
        if (head !== 'carried') window = compactedWindow(window, head, ref.keepFrom);
      }
      const blocks = refs.flatMap((ref) => resolve(ref, calls, lookup));
      const message = composeUserMessage(lastAssistant(messages), blocks);
      if (message !== undefined) append(message);
    },
    answer: (message, next) => {
      append(message);
      calls = next;
    },
  };
}

function resolve(ref: AddedRef, calls: readonly CallBlock[], lookup: Lookup): UserBlock[] {
  if ('prepared' in ref || 'compacted' in ref) return [];
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
