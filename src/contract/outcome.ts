/** How a run ended. The exit code is what CI branches on. */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  unauthenticated: 3,
  denied: 4,
  limit_reached: 5,
  unavailable: 6,
  context_exhausted: 7,
  cancelled: 130,
} as const;

export type Outcome = keyof typeof EXIT_CODES;

/** Usage or configuration was wrong; nothing was started. */
export const EXIT_USAGE = 2;
/** The follower was ended by SIGTERM. */
export const EXIT_SIGTERM = 143;

/** Value of the search attribute `SurehandState` and of the `status` query. */
export type RunState = 'working' | 'waiting-for-host' | 'waiting-for-approval' | 'waiting-for-message' | Outcome;
