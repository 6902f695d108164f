import type { Envelope } from '../contract/envelope';
import type { RunInput } from '../contract/run-input';
import type { Conversation } from '../conversation/conversation';

/** What one run's history says, decoded. A chain of runs is a list of these. */
export interface RunFacts {
  readonly runId: string;
  readonly firstRunId: string;
  readonly startedAt: number;
  readonly input: RunInput;
  /** The conversation that the run before handed over, if there was one. */
  readonly carried?: Conversation;
  /** In the order of scheduling; a repeated activity id replaces the earlier one. */
  readonly activities: ReadonlyMap<string, ActivityFact>;
  readonly envelopes: ReadonlyMap<string, Envelope>;
  readonly memo: Readonly<Record<string, unknown>>;
  readonly close?: CloseFact;
  readonly bytes: number;
  readonly events: number;
}

export interface ActivityFact {
  readonly activityId: string;
  readonly summary: string;
  readonly scheduledAt: number;
  readonly startedAt?: number;
  readonly closedAt?: number;
  readonly status: 'scheduled' | 'completed' | 'failed' | 'timed_out' | 'cancelled';
  readonly input: unknown;
  readonly result?: unknown;
  readonly failure?: string;
}

export interface CloseFact {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out' | 'continued_as_new';
  readonly at: number;
  readonly result?: unknown;
  /** Why somebody terminated it. */
  readonly reason?: string;
  readonly failure?: { readonly type: string; readonly message: string; readonly details: unknown };
}
