import { WorkflowNotFoundError, type Client } from '@temporalio/client';

/** Whether the chain of runs that began with `firstRunId` is over. A run that history no longer knows is. */
export async function isRunClosed(client: Client, workflowId: string, firstRunId: string): Promise<boolean> {
  try {
    const description = await client.workflow.getHandle(workflowId).describe();
    const first = description.raw.workflowExecutionInfo?.firstRunId;
    // Another chain under this id: the one asked for is over, since two cannot be open at once.
    return (
      description.status.name !== 'RUNNING' ||
      (first !== undefined && first !== null && first !== '' && first !== firstRunId)
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}
