import { createHash } from 'node:crypto';
import { join } from 'node:path';

/**
 * Where the state directory keeps what belongs to one run as a whole. By the workflow id: a reset and a next run of the
 * chain meet the same files.
 */
export function runDirectory(stateDirectory: string, workflowId: string): string {
  return join(stateDirectory, 'runs', shortDigest(workflowId));
}

/** A file name for any text. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
