import type { PortFailure } from './failure';

/** How a port throws a `PortFailure`: adapters throw it, `activities/` alone translates it for Temporal. */
export class PortError extends Error {
  override readonly name = 'PortError';

  constructor(
    readonly failure: PortFailure,
    options?: { readonly cause?: unknown },
  ) {
    super(failure.detail, options);
  }
}
