import type { AddedRef } from '../contract/activity';
import { OUTCOME_OF_CLASS } from '../contract/failure';
import type { Outcome } from '../contract/outcome';
import type { ResultDocument, RunError } from '../contract/result-document';
import { assistantText, lastAssistant } from './compose-message';
import { addedRefs, type Conversation } from './conversation';
import { cutText, fit } from './fit';
import { utf8Bytes } from './json-size';
import { MAX_LEAVING_BYTES, MAX_MEMO_LIST_BYTES, MAX_MEMO_TEXT_BYTES } from './limits';

export interface Ending {
  /** `null` = done. */
  readonly error: RunError | null;
  readonly workflowId: string;
  readonly now: number;
}

/** What came after the last model call: readers fold it like one more call. */
export interface Tail {
  readonly after: string | null;
  readonly added: readonly AddedRef[];
}

export function outcomeOf(error: RunError | null): Outcome {
  return error === null ? 'done' : OUTCOME_OF_CLASS[error.class];
}

/** The result document of a conversation that ends now. */
export function resultDocument(conversation: Conversation, { error, workflowId, now }: Ending): ResultDocument {
  const outcome = outcomeOf(error);
  const text = assistantText(lastAssistant(conversation.window));
  return {
    schemaVersion: 1,
    runId: conversation.firstRunId,
    workflowId,
    outcome,
    isError: outcome !== 'done',
    text,
    textBytes: utf8Bytes(text),
    structured: conversation.structured?.value ?? null,
    turns: conversation.turn,
    durationMs: Math.max(0, now - conversation.startedAt),
    usage: conversation.usage,
    costUsd: conversation.costUsd,
    denials: conversation.denials,
    filesChanged: conversation.filesChanged,
    error,
  };
}

/** The document as memo and failure details may hold it: no part of it can push another one out. */
export function fitDocument(document: ResultDocument): ResultDocument {
  const cut = {
    ...document,
    text: fit(cutText(document.text, MAX_MEMO_TEXT_BYTES), MAX_MEMO_TEXT_BYTES),
    denials: fit(document.denials, MAX_MEMO_LIST_BYTES),
    filesChanged: fit(document.filesChanged, MAX_MEMO_LIST_BYTES),
  };
  return fit(cut, MAX_LEAVING_BYTES);
}

/** The tail of a conversation: refs that no later model call will tell. */
export function tailOf(conversation: Conversation): Tail {
  return fit({ after: conversation.after, added: addedRefs(conversation) }, MAX_LEAVING_BYTES);
}
