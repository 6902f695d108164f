import { WorkflowNotFoundError, type Client } from '@temporalio/client';

/** What must be known of a call to say whether anybody can ask for it again. */
export interface KeptCall {
  readonly hasEntry: boolean;
  readonly workflowId: string | undefined;
  readonly server: string | undefined;
  /** Milliseconds since the epoch. */
  readonly lastChangedMs: number;
}

/** The name by which journal entries know a server: runs of another one must not be looked up here. */
export function serverName(server: {
  readonly embedded: boolean;
  readonly address: string;
  readonly namespace: string;
}): string {
  return server.embedded ? 'embedded' : `${server.address}/${server.namespace}`;
}

/**
 * Tells calls whose run is past the namespace's retention: nobody can ask for them again. Kept is whatever is younger
 * than that, belongs to a run that the server knows, or to another server, or does not say to whom.
 * @throws the gRPC error when the namespace cannot be read.
 */
export async function createCallExpiry(client: Client, server: string): Promise<(call: KeptCall) => Promise<boolean>> {
  const { namespace } = client.options;
  const { config } = await client.workflowService.describeNamespace({ namespace });
  const retentionMs = Number(config?.workflowExecutionRetentionTtl?.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  const known = new Map<string, Promise<boolean>>();
  return async (call) => {
    if (Date.now() - call.lastChangedMs <= retentionMs) return false;
    if (!call.hasEntry) return true;
    if (call.workflowId === undefined || call.server !== server) return false;
    const answer = known.get(call.workflowId) ?? isKnown(client, call.workflowId);
    known.set(call.workflowId, answer);
    return !(await answer);
  };
}

async function isKnown(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
