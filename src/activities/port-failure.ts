import { ApplicationFailure } from '@temporalio/activity';
import type { PortFailure } from '../contract/failure';
import { FAILURE } from '../contract/names';
import { PortError } from '../contract/port-error';
import { retryNotice } from '../conversation/retry-notice';
import type { Redact } from '../redactor';

const MAX_CAUSES = 20;

/**
 * The one place where a port's failure becomes Temporal's; anything else stays what it was. No text of either has a secret
 * in it any more: it goes into history and into logs.
 */
export function toApplicationFailure(error: unknown, redact: Redact): unknown {
  if (!(error instanceof PortError)) return redacted(error, redact);
  const failure = { ...error.failure, detail: redact(error.failure.detail) };
  const notice = retryNotice(failure, Date.now());
  return ApplicationFailure.create({
    // The Web UI shows it with the pending step.
    message: notice === undefined ? failure.detail : `${notice}: ${failure.detail}`,
    type: FAILURE.portFailure,
    nonRetryable: !failure.retryable || failure.gaveUp === true,
    details: [failure satisfies PortFailure],
    ...(failure.retryAfterMs === undefined ? {} : { nextRetryDelay: failure.retryAfterMs }),
  });
}

/** Temporal records message and stack of a bug and of what caused it. */
function redacted(error: unknown, redact: Redact): unknown {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth += 1) {
    cause.message = redact(cause.message);
    if (cause.stack !== undefined) cause.stack = redact(cause.stack);
    cause = cause.cause;
  }
  return error;
}
