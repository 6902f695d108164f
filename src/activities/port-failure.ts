import { ApplicationFailure } from '@temporalio/activity';
import type { PortFailure } from '../contract/failure';
import { FAILURE } from '../contract/names';
import { PortError } from '../contract/port-error';

/** The one place where a port's failure becomes Temporal's. Anything else stays as it was thrown. */
export function toApplicationFailure(error: unknown): unknown {
  if (!(error instanceof PortError)) return error;
  const { failure } = error;
  return ApplicationFailure.create({
    message: failure.detail,
    type: FAILURE.portFailure,
    nonRetryable: !failure.retryable,
    details: [failure satisfies PortFailure],
    ...(failure.retryAfterMs === undefined ? {} : { nextRetryDelay: failure.retryAfterMs }),
  });
}
