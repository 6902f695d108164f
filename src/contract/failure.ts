import type { Spent } from './activity';
import type { Outcome } from './outcome';

/**
 * What infrastructure does to us, named once per port by its classifier. One function in `activities/` turns it into an
 * `ApplicationFailure`; the run's outcome follows from the class.
 */
export interface PortFailure {
  readonly class: FailureClass;
  readonly retryable: boolean;
  /** The other side's own wish, a floor for the back-off. */
  readonly retryAfterMs?: number;
  /** One sentence for people, without secrets. */
  readonly detail: string;
  /** The try that comes after this failure. */
  readonly nextTry?: NextTry;
  /** Another try might help, but tries or time are used up. */
  readonly gaveUp?: true;
  /** What this try of a model call and those before it cost. */
  readonly spent?: Spent;
}

/** Times in milliseconds since the epoch. */
export interface NextTry {
  /** 2: the first retry. */
  readonly number: number;
  readonly at: number;
  /** When the last try begins at the latest. */
  readonly givesUpAt: number;
}

/** Failure classes and the outcome a run ends with when such a failure is final. */
export const OUTCOME_OF_CLASS = {
  unauthenticated: 'unauthenticated',
  permission_refused: 'unauthenticated',
  billing: 'failed',
  invalid_request: 'failed',
  not_found: 'failed',
  too_large: 'failed',
  refused: 'failed',
  rate_limited: 'unavailable',
  overloaded: 'unavailable',
  server_error: 'unavailable',
  connection: 'unavailable',
  stalled: 'unavailable',
  context_window: 'context_exhausted',
  script_invalid: 'failed',
  script_exhausted: 'failed',
  script_expectation: 'failed',
  message_too_large: 'failed',
  workspace_missing: 'failed',
  workspace_unwritable: 'failed',
  workspace_busy: 'unavailable',
  host_unavailable: 'unavailable',
  worker_lost: 'unavailable',
  history_unreadable: 'failed',
  no_progress: 'limit_reached',
  output_invalid: 'failed',
  max_turns: 'limit_reached',
  max_time: 'limit_reached',
  max_cost: 'limit_reached',
  max_tokens: 'limit_reached',
  permission_needed: 'denied',
  cancelled: 'cancelled',
  internal: 'failed',
} as const satisfies Record<string, Outcome>;

export type FailureClass = keyof typeof OUTCOME_OF_CLASS;
