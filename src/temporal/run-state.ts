import { WorkflowNotFoundError, type Client } from '@temporalio/client';

/**
 * Whether a run is over: the chain that began with `firstRunId`, or, without one, whatever has this workflow id. A run
 * that the server no longer knows is over.
 */
export async function isRunClosed(client: Client, workflowId: string, firstRunId?: string): Promise<boolean> {
  try {
    const description = await client.workflow.getHandle(workflowId).describe();
    if (description.status.name !== 'RUNNING') return true;
    // Another chain under this id: the one asked for is over, since two cannot be open at once.
    const first = description.raw.workflowExecutionInfo?.firstRunId;
    return firstRunId !== undefined && Boolean(first) && first !== firstRunId;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}
