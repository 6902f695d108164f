import { ApplicationFailure, Context } from '@temporalio/activity';
import type { StepProgress } from '../contract/activity';
import type { AbortMeaning } from './delivery';
import { toApplicationFailure } from './port-failure';

/** Heartbeat details stay small: followers read them once a second. */
const MAX_TAIL = 3_000;

/** A running activity as the adapters below use it. */
export interface Step {
  readonly workflowId: string;
  readonly runId: string;
  readonly attempt: number;
  /** Aborted when this attempt is to stop. */
  readonly signal: AbortSignal;
  /** What the abort means. */
  readonly meaning: () => AbortMeaning;
  /** What a follower sees of the running step: the tail of a growing text, and its size so far. */
  progress(tail: string, bytes: number): void;
}

/**
 * Runs an activity's work with heartbeats from a timer, so that a long silent think keeps its heartbeat and a
 * cancellation arrives within a second. Port failures leave translated for Temporal.
 */
export async function runStep<T>(work: (step: Step) => Promise<T>): Promise<T> {
  const context = Context.current();
  const { attempt, workflowExecution, heartbeatTimeoutMs } = context.info;
  let progress: StepProgress = { attempt, tail: '', bytes: 0 };
  const beat = (): void => {
    context.heartbeat(progress);
  };
  const timer = setInterval(beat, Math.max(50, Math.min(500, (heartbeatTimeoutMs ?? 10_000) / 4)));
  beat();
  try {
    return await work({
      workflowId: workflowExecution?.workflowId ?? '',
      runId: workflowExecution?.runId ?? '',
      attempt,
      signal: context.cancellationSignal,
      meaning: () => meaningOf(context),
      progress: (tail, bytes) => {
        progress = { attempt, tail: tail.slice(-MAX_TAIL), bytes };
      },
    });
  } catch (error) {
    const { aborted } = context.cancellationSignal;
    if (aborted && !(error instanceof ApplicationFailure)) context.cancellationSignal.throwIfAborted();
    throw toApplicationFailure(error);
  } finally {
    clearInterval(timer);
  }
}

/** A pause or a reset by an operator keeps the work, like a shutdown. */
function meaningOf({ cancellationDetails: details }: Context): AbortMeaning {
  if (details?.cancelRequested === true) return 'cancelled';
  return details?.workerShutdown === true || details?.paused === true || details?.reset === true ? 'shutdown' : 'lost';
}
