import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { google, temporal } from '@temporalio/proto';
import { connectClient } from '../../src/temporal/connection';
import { openConnection } from '../../src/temporal/open-connection';
import type { OpenedConnection } from '../../src/temporal/open-connection';

/** A namespace of its own on the suite's server, as a team's cluster has it: nothing registered, this retention. */
export async function createNamespace({ days }: { readonly days: number }): Promise<OpenedConnection> {
  const address = process.env['SUREHAND_TEST_TEMPORAL'] ?? '';
  const namespace = `team-${randomUUID()}`;
  const seconds = days * 24 * 60 * 60;
  const { client, close } = await connectClient({ address, namespace: 'default' });
  const workflowExecutionRetentionPeriod = google.protobuf.Duration.fromObject({ seconds });
  await client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  await close();
  return openConnection({ address, namespace }, 5_000);
}

/** Starts a run on a queue of its own. */
export async function startRun(client: Client, workflowId: string, taskQueue: string): Promise<void> {
  await client.workflow.start('agentWorkflow', { workflowId, taskQueue, args: [{}] });
}

/**
 * Takes the next workflow task of a queue as a worker would and fails it, for this cause of Temporal's. The server tries
 * it again at once, for nobody.
 */
export async function failWorkflowTask(
  client: Client,
  queue: string,
  {
    cause,
    message,
  }: { readonly cause: keyof typeof temporal.api.enums.v1.WorkflowTaskFailedCause; readonly message: string },
): Promise<void> {
  const { namespace } = client.options;
  const identity = 'surehand@elsewhere#1';
  await client.withDeadline(Date.now() + 20_000, async () => {
    const { taskToken } = await client.workflowService.pollWorkflowTaskQueue({
      namespace,
      taskQueue: { name: queue },
      identity,
    });
    const code = temporal.api.enums.v1.WorkflowTaskFailedCause[cause];
    await client.workflowService.respondWorkflowTaskFailed({
      namespace,
      taskToken,
      cause: code,
      failure: { message },
      identity,
    });
  });
}
