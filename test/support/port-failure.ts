import type { PortFailure } from '../../src/contract/failure';
import { PortError } from '../../src/contract/port-error';

/** The failure that a port throws; the test fails if it throws nothing, or something else. */
export async function failureOf(work: Promise<unknown>): Promise<PortFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof PortError) return error.failure;
    throw error;
  }
  throw new Error('expected a PortError, and the work succeeded');
}

/** The same for what throws at once. */
export function thrownFailure(work: () => unknown): Promise<PortFailure> {
  return failureOf(Promise.resolve().then(work));
}
