import type { SearchAttributeName } from './names';

/** The one argument of `agentWorkflow` at its first start. Everything that decides the run's behaviour is here. */
export interface RunInput {
  readonly schemaVersion: 1;
  readonly kind: 'task' | 'chat';
  /** What the person asked for, word for word. At most 128 KB. */
  readonly task: string;
  /** Absolute path on the host that `hostQueue` belongs to. */
  readonly workspace: string;
  readonly hostId: string;
  readonly hostQueue: string;
  readonly model: ModelChoice;
  readonly limits: RunLimits;
  readonly permission: PermissionSetting;
  readonly timeouts: RunTimeouts;
  /** The search attributes that the starter found registered: an unregistered one would block the run for ever. */
  readonly searchAttributes: readonly SearchAttributeName[];
  /** `user@host` or SUREHAND_USER of the starter. */
  readonly startedBy: string;
  /** JSON Schema (an object) that the run's answer has to satisfy: it ends only with a valid one. At most 64 KB. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Directory on the host into which each model request is written as JSON. */
  readonly dumpRequests?: string;
  /** Workflow ids: the top of a tree of runs, the run that started this one. */
  readonly root?: string;
  readonly parent?: string;
  readonly depth: number;
  readonly priority?: number;
}

export interface ModelChoice {
  readonly provider: 'anthropic' | 'scripted';
  /** Model id for the endpoint, or the script's name. */
  readonly model: string;
  /** Name of an endpoint in the worker's own configuration (URL and key never travel). */
  readonly endpoint: string;
  /** Text of the scripted model, at most 512 KB. */
  readonly script?: string;
}

export interface RunLimits {
  readonly maxTurns: number;
  readonly maxTimeMs?: number;
  readonly maxCostUsd?: number;
  /** Sum of all four counters over all calls. */
  readonly maxTokens?: number;
  readonly maxOutputTokens: number;
  /** What one call may take after an answer was cut inside a tool call. Default: twice `maxOutputTokens`. */
  readonly maxOutputRaised?: number;
  /** Tokens that the model's window holds. Default: 200,000. */
  readonly contextTokens?: number;
  /** Share of the window (0 to 1) at which earlier parts are summarized. Default: 0.8. */
  readonly compactAt?: number;
  /** How long the run waits for a host that is away. */
  readonly hostWaitMs: number;
  /** How long one model call is tried again and again. Default: half an hour. */
  readonly modelWaitMs?: number;
  /** Model calls after which the conversation goes on in a new run of its chain. Default: when the server suggests it. */
  readonly turnsPerRun?: number;
}

export type PermissionMode = 'auto' | 'ask' | 'read-only';

export interface PermissionSetting {
  readonly mode: PermissionMode;
  /** Nobody will answer: what would ask is denied. */
  readonly unattended: boolean;
}

/** Every timeout of the run, in milliseconds, so that tests can use short ones. */
export interface RunTimeouts {
  readonly heartbeatMs: number;
  readonly modelCallMs: number;
  readonly toolCallMs: number;
  readonly prepareMs: number;
  /** First schedule-to-start of a host's activity; it doubles up to `hostWaitMaxMs`. */
  readonly scheduleToStartMs: number;
  readonly hostWaitMaxMs: number;
  readonly retryInitialMs: number;
  readonly retryMaxMs: number;
  /** How many times a model call is tried before the run ends as unavailable. */
  readonly modelAttempts: number;
  /** How long closing work may take after a cancellation. */
  readonly finishMs: number;
}
