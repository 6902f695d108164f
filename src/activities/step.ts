import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { Spent, StepProgress } from '../contract/activity';
import type { Redact } from '../redactor';
import type { AbortMeaning } from './delivery';
import { toApplicationFailure } from './port-failure';

/** Heartbeat details stay small: followers read them once a second. Bytes of UTF-8. */
const MAX_TAIL = 3_000;

/** A running activity as the adapters below use it. */
export interface Step {
  readonly workflowId: string;
  readonly runId: string;
  readonly attempt: number;
  /** What earlier attempts of this model call reported as spent. */
  readonly spentBefore: Spent | undefined;
  /** Aborted when this attempt is to stop. */
  readonly signal: AbortSignal;
  /** What the abort means. */
  readonly meaning: () => AbortMeaning;
  /**
   * What a follower sees of the running step: the tail of a growing text, and its size so far. What a model call has
   * spent goes to the next try as well.
   */
  progress(tail: string, bytes: number, spent?: Spent): void;
}

/**
 * Runs an activity's work with heartbeats from a timer, so that a long silent think keeps its heartbeat and a
 * cancellation arrives within a second. Port failures leave translated for Temporal. Neither progress nor failures carry
 * secrets out.
 */
export async function runStep<T>(
  { redact }: { readonly redact: Redact },
  work: (step: Step) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const { attempt, workflowExecution, heartbeatTimeoutMs } = context.info;
  const spentBefore = spentOf(context.info.heartbeatDetails);
  let latest: Omit<StepProgress, 'attempt'> = { tail: '', bytes: 0, ...(spentBefore && { spent: spentBefore }) };
  const beat = (): void => {
    // The cut may fall into a secret, and a stream may have brought only the first half of one.
    const tail = redact(lastBytes(latest.tail, MAX_TAIL), 'piece');
    context.heartbeat({ ...latest, attempt, tail } satisfies StepProgress);
  };
  const timer = setInterval(beat, Math.max(50, Math.min(500, (heartbeatTimeoutMs ?? 10_000) / 4)));
  beat();
  try {
    return await work({
      workflowId: workflowExecution?.workflowId ?? '',
      runId: workflowExecution?.runId ?? '',
      attempt,
      spentBefore,
      signal: context.cancellationSignal,
      meaning: () => meaningOf(context),
      progress: (tail, bytes, spent) => {
        latest = { tail, bytes, ...(spent === undefined ? {} : { spent }) };
      },
    });
  } catch (error) {
    // The failure takes the last progress with it, for the next try.
    beat();
    const { aborted } = context.cancellationSignal;
    if (aborted && !(error instanceof ApplicationFailure)) throw cancelledWith(context, latest.spent);
    throw toApplicationFailure(error, redact);
  } finally {
    clearInterval(timer);
  }
}

/** What is cancelled tells what it has spent: it is paid all the same. */
function cancelledWith({ cancellationSignal: { reason } }: Context, spent: Spent | undefined): unknown {
  if (!(reason instanceof CancelledFailure) || spent === undefined) return reason;
  return new CancelledFailure(reason.message, [{ spent }]);
}

/** Details are what the last heartbeat of the attempt before said. */
function spentOf(details: unknown): Spent | undefined {
  return typeof details === 'object' && details !== null && 'spent' in details ? (details.spent as Spent) : undefined;
}

/** The end of a text, not beginning within a character. */
function lastBytes(text: string, bytes: number): string {
  const end = Buffer.from(text.slice(-bytes)).subarray(-bytes);
  return end.toString('utf8').replace(/^\ufffd+/, '');
}

/** A pause or a reset by an operator keeps the work, like a shutdown. */
function meaningOf({ cancellationDetails: details }: Context): AbortMeaning {
  if (details?.cancelRequested === true) return 'cancelled';
  return details?.workerShutdown === true || details?.paused === true || details?.reset === true ? 'shutdown' : 'lost';
}
