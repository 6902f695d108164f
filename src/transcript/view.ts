import type { ToolDetails } from '../contract/activity';
import type { AssistantBlock, Message, Usage } from '../contract/message';
import type { ResultDocument } from '../contract/result-document';
import type { Todo } from '../contract/todo';
import type { RunInput } from '../contract/run-input';

/** A run as people read it: `show`, `attach` and the HTML page render this and nothing else. */
export interface RunView {
  readonly workflowId: string;
  /** First run of the chain. */
  readonly runId: string;
  readonly input: RunInput;
  readonly startedAt: number;
  /** The whole conversation, as the model would get it without any cut of the window. */
  readonly messages: readonly Message[];
  readonly turns: readonly TurnView[];
  /** Present once the run is closed. */
  readonly result?: ResultDocument;
  readonly closed: boolean;
  /** How Temporal closed it, present once it is closed. */
  readonly closeStatus?: 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out' | 'continued_as_new';
  /** What the person who terminated it gave as the reason. */
  readonly closeReason?: string;
  /** The model's plan, as it last wrote it. */
  readonly todos: readonly Todo[];
  /** Ids of everything that people sent and the conversation has. */
  readonly received: readonly string[];
  /** An open chat that has answered everything and waits for the next message. */
  readonly atRest: boolean;
  /** Envelope ids that the run never took in. */
  readonly unread: readonly string[];
  readonly historyBytes: number;
  readonly historyEvents: number;
  /** An earlier part of the chain is gone (retention). */
  readonly earlierPartGone: boolean;
}

export interface TurnView {
  readonly turn: number;
  /** What people sent, taken in before this turn. */
  readonly said: readonly { readonly by: string; readonly text: string }[];
  readonly status: 'running' | 'done' | 'failed';
  readonly text: string;
  /** The whole answer, once there is one. */
  readonly content?: readonly AssistantBlock[];
  readonly stopReason?: string;
  readonly usage?: Usage;
  readonly startedAt: number;
  readonly durationMs?: number;
  /** Sentence of the failure that ended the call. */
  readonly failure?: string;
  readonly steps: readonly StepView[];
}

export type StepStatus = 'waiting' | 'running' | 'success' | 'failed' | 'denied' | 'interrupted';

export interface StepView {
  /** `<turn>.<n>` */
  readonly call: string;
  /** Activity id, for matching with `describe()`'s pending activities. */
  readonly activityId: string;
  readonly tool: string;
  readonly summary: string;
  readonly input: unknown;
  readonly status: StepStatus;
  readonly startedAt?: number;
  readonly durationMs?: number;
  readonly result?: string;
  readonly details?: ToolDetails;
}
