import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/workflow';
import type { Spent, StepProgress } from '../contract/activity';

/** What a call's tries have cost that brought no answer, as far as its failure tells it. */
export function spentOf(error: unknown): Spent | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const told: unknown =
    cause instanceof TimeoutFailure
      ? cause.lastHeartbeatDetails
      : cause instanceof ApplicationFailure || cause instanceof CancelledFailure
        ? cause.details?.[0]
        : undefined;
  return isRecord(told) ? (told['spent'] as Spent | undefined) : undefined;
}

/** The last thing that was heard of a step which timed out. */
export function lastProgress(error: unknown): Partial<StepProgress> {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const told: unknown = cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : undefined;
  return isRecord(told) ? told : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
