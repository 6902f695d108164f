import type { Usage } from './message';
import type { RunState } from './outcome';

/** Answer of the query `status`. */
export interface RunStatus {
  readonly state: RunState;
  /** Model calls recorded. */
  readonly turn: number;
  /** What the run does or waits for now, in one line. */
  readonly doing: string;
  /** Messages that wait for the next turn. */
  readonly queued: number;
  readonly usage: Readonly<Record<string, Usage>>;
  readonly costUsd: number | null;
}
