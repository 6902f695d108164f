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

/** The run that began the chain: what a lease is tied to. @throws the gRPC error when there is no such run. */
export async function firstRunOf(
  client: Client,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
): Promise<string> {
  const { namespace } = client.options;
  const execution = { workflowId, runId };
  // Its first event and not its description: that one says it on newer servers alone.
  const request = { namespace, execution, maximumPageSize: 1 };
  const { history } = await client.workflowService.getWorkflowExecutionHistory(request);
  return history?.events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId || runId;
}
