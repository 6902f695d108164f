import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from '@temporalio/workflow';
import { OUTCOME_OF_CLASS, type FailureClass, type PortFailure } from '../contract/failure';
import { FAILURE } from '../contract/names';
import type { RunError } from '../contract/result-document';
import { cutText } from '../conversation/fit';

const MAX_MESSAGE = 2_000;

/** Whatever stopped the loop → the error of the result document. Never throws. */
export function toRunError(error: unknown): RunError {
  if (isCancellation(error)) return runError('cancelled', 'the run was cancelled');
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.type === FAILURE.portFailure) return fromPortFailure(cause);
  if (cause instanceof TimeoutFailure || (cause instanceof ApplicationFailure && cause.type === FAILURE.workerLost)) {
    return runError('worker_lost', `the worker did not finish a step in time: ${cause.message}`, true);
  }
  return runError('internal', cause instanceof Error ? cause.message : String(cause));
}

function fromPortFailure(failure: ApplicationFailure): RunError {
  const detail = failure.details?.[0] as Partial<PortFailure> | undefined;
  const named = detail?.class;
  const known: FailureClass = named !== undefined && named in OUTCOME_OF_CLASS ? named : 'internal';
  return runError(known, detail?.detail ?? failure.message, detail?.retryable === true);
}

function runError(kind: FailureClass, message: string, retryable = false): RunError {
  return { class: kind, message: cutText(message, MAX_MESSAGE), retryable };
}
