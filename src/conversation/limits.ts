import type { RunLimits } from '../contract/run-input';
import type { RunError } from '../contract/result-document';
import type { Conversation } from './conversation';
import { totalTokens } from './usage';

/** A message of the model, or of a person for the workflow as a whole, in bytes of JSON. */
export const MAX_MESSAGE_BYTES = 256 * 1024;
/** All results of one assistant message together, in bytes of JSON. */
const MAX_RESULTS_BYTES = 256 * 1024;
/** The text of an envelope or a task, in bytes of UTF-8. */
export const MAX_TEXT_BYTES = 128 * 1024;
/** `text` of the result in the memo. */
export const MAX_MEMO_TEXT_BYTES = 16 * 1024;
/** Each list (denials, changed files) of the result in the memo. */
export const MAX_MEMO_LIST_BYTES = 16 * 1024;
/** The whole memo entry, failure details, update answers. */
export const MAX_LEAVING_BYTES = 64 * 1024;

/** The sentence of an error: it becomes the message of a failure. */
export const MAX_ERROR_BYTES = 2_000;
/** A result that workflow code makes itself: it travels as a reference, in the input of the next model call. */
export const MAX_INLINE_BYTES = 4_000;

/** The model's plan, as part of the conversation. */
export const MAX_TODOS_BYTES = 8 * 1024;

/** What the next answer may take: more, once, after an answer was cut in the middle of a call. */
export function outputBudget({ stopReason, calls, nudges }: Conversation, limits: RunLimits): number {
  const base = limits.maxOutputTokens;
  if (stopReason !== 'max_tokens' || calls.length === 0 || nudges !== 1) return base;
  return Math.max(base, limits.maxOutputRaised ?? base * 2);
}

/** Judged before each model call, so that messages cannot outrun a limit. */
export function exceededLimit(conversation: Conversation, limits: RunLimits, now: number): RunError | undefined {
  if (conversation.turn >= limits.maxTurns) {
    return reached('max_turns', `the limit of ${String(limits.maxTurns)} turns is reached`);
  }
  if (conversation.deadlineAt !== null && now >= conversation.deadlineAt) return timeLimitReached(limits);
  const tokens = totalTokens(conversation.usage);
  if (limits.maxTokens !== undefined && tokens >= limits.maxTokens) {
    return reached('max_tokens', `the limit of ${String(limits.maxTokens)} tokens is reached (${String(tokens)} used)`);
  }
  if (limits.maxCostUsd !== undefined && conversation.costUsd !== null && conversation.costUsd >= limits.maxCostUsd) {
    return reached('max_cost', `the limit of ${String(limits.maxCostUsd)} USD is reached`);
  }
  return undefined;
}

export function timeLimitReached(limits: RunLimits): RunError {
  return reached('max_time', `the time limit of ${String((limits.maxTimeMs ?? 0) / 1000)} s is reached`);
}

/** Each call's share of what all results of one message may take. */
export function shareBytes(callsOfMessage: number): number {
  return Math.floor(MAX_RESULTS_BYTES / Math.max(1, callsOfMessage));
}

function reached(kind: 'max_turns' | 'max_time' | 'max_tokens' | 'max_cost', message: string): RunError {
  return { class: kind, message, retryable: false };
}
