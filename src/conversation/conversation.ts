import type { AddedRef, PlannedCall, WorkspaceFacts } from '../contract/activity';
import type { Envelope, EnvelopeAnswer } from '../contract/envelope';
import type { Message, ToolResultBlock, Usage, UserBlock } from '../contract/message';
import type { Denial } from '../contract/result-document';
import type { RunInput } from '../contract/run-input';
import type { Todo } from '../contract/todo';

export const CONVERSATION_VERSION = 2;

/**
 * The conversation as one value: what the workflow decides on, and all that continue-as-new carries. Each change to its
 * shape gets a new `v` and a migration in `migrate.ts`.
 */
export interface Conversation {
  readonly v: typeof CONVERSATION_VERSION;
  /** First run of the chain. */
  readonly firstRunId: string;
  readonly startedAt: number;
  /** Absolute end of the time limit, `null` without one. */
  readonly deadlineAt: number | null;
  /** Entry 0: set once by `prepareWorkspace`. */
  readonly facts: WorkspaceFacts | null;
  /** The run has the workspace's lease, as far as the workflow knows. A chat that waits gives it up. */
  readonly holdsWorkspace: boolean;
  /** A person ended the chat: it closes instead of waiting for the next message. */
  readonly stopped: boolean;
  /** Model calls recorded so far. */
  readonly turn: number;
  /** Id of the last assistant message. */
  readonly after: string | null;
  /** What the model gets, up to and with the last assistant message. */
  readonly window: readonly Message[];
  /** Bytes of the window as JSON. */
  readonly windowBytes: number;
  /** Tokens of the last model call, in and out, as the endpoint counted; 0 when it does not count. */
  readonly contextTokens: number;
  /** The endpoint said that the window does not fit. */
  readonly overflow: boolean;
  /** Tries of the coming model call that failed for good, and were made anew since. */
  readonly triesBefore: number;
  /** Summaries so far, and how many of them since the last answer of the model. */
  readonly compactions: { readonly count: number; readonly inARow: number };
  /** What people said beside the task, the newest last, cut: it outlives a compaction word for word. */
  readonly said: readonly string[];
  /** The calls of the last assistant message, in its order. */
  readonly calls: readonly CallState[];
  /** What else will be in the next user message: its blocks, and the references that tell them to readers. */
  readonly pending: readonly PendingBlock[];
  /** Stop reason of the last assistant message. */
  readonly stopReason: string | null;
  readonly stopDetail: string | null;
  /** Answers in a row that were cut or blank. */
  readonly nudges: number;
  /** Envelopes that arrived and were not taken in. */
  readonly queue: readonly Envelope[];
  /** Envelopes ever accepted, with their answers (the last 500). */
  readonly seen: readonly EnvelopeAnswer[];
  readonly usage: Readonly<Record<string, Usage>>;
  readonly costUsd: number | null;
  readonly denials: readonly Denial[];
  /** A denial that no successful call came after: the model could not do without. */
  readonly blockedBy: Denial | null;
  readonly filesChanged: readonly string[];
  /** The model's plan, as it last wrote it. */
  readonly todos: readonly Todo[];
  /** The answer of a run with an output schema, once it is valid. */
  readonly structured: { readonly value: unknown } | null;
  /** Answers that were not valid, or were missing. */
  readonly outputTries: number;
}

export interface CallState {
  /** `<turn>.<n>` */
  readonly call: string;
  readonly plan: PlannedCall;
  /** Final input: coerced if coercion changed it. */
  readonly input: unknown;
  readonly ask: 'none' | 'open' | 'granted';
  /** Digest of a person's approval. */
  readonly grant?: string;
  /** Set once the call has its result. */
  readonly settled?: { readonly ref: AddedRef; readonly block: ToolResultBlock };
}

export interface PendingBlock {
  readonly ref: AddedRef;
  /** `null` for a reference that stands for no block of its own (entry 0). */
  readonly block: UserBlock | null;
}

export interface Opening {
  readonly input: RunInput;
  readonly runId: string;
  readonly now: number;
}

/** The conversation before anything happened. */
export function openConversation({ input, runId, now }: Opening): Conversation {
  return {
    v: CONVERSATION_VERSION,
    firstRunId: runId,
    startedAt: now,
    deadlineAt: input.limits.maxTimeMs === undefined ? null : now + input.limits.maxTimeMs,
    facts: null,
    holdsWorkspace: false,
    stopped: false,
    turn: 0,
    after: null,
    window: [],
    windowBytes: 0,
    contextTokens: 0,
    overflow: false,
    triesBefore: 0,
    compactions: { count: 0, inARow: 0 },
    said: [],
    calls: [],
    pending: [],
    stopReason: null,
    stopDetail: null,
    nudges: 0,
    queue: [],
    seen: [],
    usage: {},
    costUsd: 0,
    denials: [],
    blockedBy: null,
    filesChanged: [],
    todos: [],
    structured: null,
    outputTries: 0,
  };
}

/** What was added since the last model call, by reference, in the order of the message it makes. */
export function addedRefs(conversation: Conversation): AddedRef[] {
  return [
    ...conversation.calls.flatMap(({ settled }) => (settled === undefined ? [] : [settled.ref])),
    ...conversation.pending.map(({ ref }) => ref),
  ];
}
