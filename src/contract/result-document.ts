import type { FailureClass } from './failure';
import type { Usage } from './message';
import type { Outcome } from './outcome';

export interface Denial {
  /** `<turn>.<n>` as people see it. */
  readonly call: string;
  readonly tool: string;
  readonly summary: string;
  readonly reason: string;
}

export interface RunError {
  readonly class: FailureClass;
  readonly message: string;
  readonly retryable: boolean;
}

/** What a run leaves: `--json` prints it, the memo holds it (with `text` cut), the workflow completes with it. */
export interface ResultDocument {
  readonly schemaVersion: 1;
  /** Run id of the first run of the chain. */
  readonly runId: string;
  readonly workflowId: string;
  readonly outcome: Outcome;
  readonly isError: boolean;
  readonly text: string;
  /** Size of the whole text in UTF-8 bytes, also when `text` was cut. */
  readonly textBytes: number;
  readonly structured: unknown;
  readonly turns: number;
  readonly durationMs: number;
  readonly usage: Readonly<Record<string, Usage>>;
  readonly costUsd: number | null;
  readonly denials: readonly Denial[];
  readonly filesChanged: readonly string[];
  readonly error: RunError | null;
}
