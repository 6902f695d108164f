import { WorkflowNotFoundError } from '@temporalio/client';
import type { Session } from './session';

const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Asks Temporal to cancel a run; doing it twice is fine. `false` when the run had ended already.
 * @throws the gRPC error.
 */
export async function cancelRun({ client }: Session, workflowId: string): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + REQUEST_TIMEOUT_MS, () => client.workflow.getHandle(workflowId).cancel());
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
