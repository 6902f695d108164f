import type { SummarizeResult } from '../contract/activity';
import type { Message } from '../contract/message';
import type { RunInput } from '../contract/run-input';
import { addedRefs, type Conversation } from './conversation';
import { cutText } from './fit';
import { jsonBytes } from './json-size';
import { addCost, addSpent, addUsage } from './usage';

const DEFAULT_CONTEXT_TOKENS = 200_000;
const DEFAULT_SHARE = 0.8;
/** Roughly, for what no endpoint has counted. */
const BYTES_PER_TOKEN = 4;
/** A larger window could not be carried into a new run of the chain. */
const MAX_WINDOW_BYTES = 900 * 1024;
/** What stays of the window word for word, at most. */
const KEPT_SHARE = 0.3;
/** A summary that frees less than a third is no progress. */
const MAX_LEFT = 2 / 3;
/** Summaries without an answer of the model between them: what they do not free, no further one will. */
const MAX_IN_A_ROW = 2;
/** The notes that a summary gets, in bytes. */
const MAX_NOTES_BYTES = 24 * 1024;
const MAX_SAID = 20;
const MAX_SAID_BYTES = 1_000;

/** `exhausted`: it would be needed, and cannot help any more. */
export type Compaction = { readonly keepFrom: string } | 'exhausted' | undefined;

/** Whether the window has to become smaller before the model is asked again, and from which message on it stays. */
export function compactionOf(conversation: Conversation, input: RunInput): Compaction {
  const hard = conversation.overflow || conversation.stopReason === 'model_context_window_exceeded';
  if (!hard && !isFull(conversation, input)) return undefined;
  if (conversation.compactions.inARow >= MAX_IN_A_ROW) return 'exhausted';
  const keepFrom = cutBefore(conversation);
  if (keepFrom !== undefined) return { keepFrom };
  return hard ? 'exhausted' : undefined;
}

function isFull({ contextTokens, windowBytes, ...rest }: Conversation, { limits }: RunInput): boolean {
  if (windowBytes > MAX_WINDOW_BYTES) return true;
  const counted = contextTokens === 0 ? windowBytes / BYTES_PER_TOKEN : contextTokens;
  const added = jsonBytes([rest.calls.map(({ settled }) => settled?.block), rest.pending.map(({ block }) => block)]);
  const room = limits.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
  return counted + added / BYTES_PER_TOKEN > room * (limits.compactAt ?? DEFAULT_SHARE);
}

/**
 * The first assistant message that stays: the newest complete rounds up to a share of the window, and always the last
 * message, whose results are to come. `undefined` when nothing would be left to summarize.
 */
function cutBefore({ window, windowBytes }: Conversation): string | undefined {
  let kept = 0;
  let from: { readonly index: number; readonly id: string } | undefined;
  for (let index = window.length - 1; index >= 0; index -= 1) {
    const message = window[index] as Message;
    kept += jsonBytes(message);
    if (message.role !== 'assistant') continue;
    if (from !== undefined && kept > windowBytes * KEPT_SHARE) break;
    from = { index, id: message.id };
  }
  // What stands before it: an opening alone has nothing that a summary could shorten.
  return from === undefined || from.index < 2 ? undefined : from.id;
}

/** What has to outlive a compaction word for word, for the new opening of the window. */
export function compactionNotes({ said, filesChanged, todos }: Conversation): string {
  const sections = [
    listed('What the person said meanwhile, in order', said),
    listed('Files changed so far', filesChanged),
    listed(
      'The plan',
      todos.map(({ text, status }) => `[${status}] ${text}`),
    ),
  ];
  return cutText(sections.filter((section) => section !== '').join('\n\n'), MAX_NOTES_BYTES);
}

function listed(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

/** Remembers what a person said, cut. */
export function remember(said: readonly string[], texts: readonly string[]): readonly string[] {
  return [...said, ...texts.map((text) => cutText(text, MAX_SAID_BYTES))].slice(-MAX_SAID);
}

/**
 * A summary came. It becomes the opening of the window if that makes progress; else the window stays, and the try counts.
 */
export function recordCompaction(conversation: Conversation, result: SummarizeResult, keepFrom: string): Conversation {
  const { count, inARow } = conversation.compactions;
  const before = addSpent(conversation, result.spent);
  const counted: Conversation = {
    ...before,
    compactions: { count: count + 1, inARow: inARow + 1 },
    usage: addUsage(before.usage, result.model, result.usage),
    costUsd: addCost(before.costUsd, result.costUsd),
  };
  if (result.head === null) return counted;
  const window = compactedWindow(conversation.window, result.head, keepFrom);
  const windowBytes = jsonBytes(window);
  if (windowBytes > conversation.windowBytes * MAX_LEFT) return counted;
  const ref = { compacted: result.id, activity: summaryActivity(count + 1), keepFrom };
  return {
    ...counted,
    window,
    windowBytes,
    contextTokens: 0,
    overflow: false,
    pending: [{ ref, block: null }, ...conversation.pending],
  };
}

/** The window as a summary leaves it. Workflow and readers of history both make it here. */
export function compactedWindow(window: readonly Message[], head: Message, keepFrom: string): Message[] {
  const index = window.findIndex((message) => message.role === 'assistant' && message.id === keepFrom);
  return [head, ...window.slice(Math.max(0, index))];
}

/** Activity id of the n-th summary. */
export function summaryActivity(n: number): string {
  return `summary-${String(n)}`;
}

/** References that a reader needs to find the window of now: summaries that no model call has told yet. */
export function untoldCompactions(conversation: Conversation) {
  return addedRefs(conversation).filter((ref) => 'compacted' in ref);
}
