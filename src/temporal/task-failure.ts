import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

const { WorkflowTaskFailedCause } = temporal.api.enums.v1;

/** Why a run's workflow task failed last. */
export interface TaskFailure {
  readonly kind: 'cannot-replay' | 'search-attribute' | 'too-large' | 'bug' | 'other';
  /** Temporal's name of the cause, without its prefix: `NON_DETERMINISTIC_ERROR`. */
  readonly cause: string;
  readonly message: string;
  /** Identity of the worker. */
  readonly worker: string;
}

const PREFIX = 'WORKFLOW_TASK_FAILED_CAUSE_';
const KINDS: Readonly<Record<string, TaskFailure['kind']>> = {
  NON_DETERMINISTIC_ERROR: 'cannot-replay',
  BAD_SEARCH_ATTRIBUTES: 'search-attribute',
  GRPC_MESSAGE_TOO_LARGE: 'too-large',
  PAYLOADS_TOO_LARGE: 'too-large',
  REQUEST_TOO_LARGE: 'too-large',
  WORKFLOW_WORKER_UNHANDLED_FAILURE: 'bug',
};
/** Part of normal running: new input came while the task ran, somebody reset the run. */
const HARMLESS = new Set(['UNHANDLED_COMMAND', 'RESET_WORKFLOW', 'RESET_STICKY_TASK_QUEUE', 'FORCE_CLOSE_COMMAND']);
/** Only the first failure in a row is an event, and nothing but buffered input comes after it. */
const NEWEST_EVENTS = 20;
const TIMEOUT_MS = 3_000;

/**
 * The failure behind a workflow task that is tried again, from the newest events of the run. `undefined` when the newest
 * task did not fail (it was lost with its worker, or is only new). Needs no worker.
 * @throws the gRPC error.
 */
export async function lastTaskFailure(
  client: Client,
  execution: { readonly workflowId: string; readonly runId: string },
): Promise<TaskFailure | undefined> {
  const { namespace } = client.options;
  const { history } = await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({ namespace, execution, maximumPageSize: NEWEST_EVENTS }),
  );
  for (const event of history?.events ?? []) {
    if (event.workflowTaskCompletedEventAttributes || event.workflowTaskTimedOutEventAttributes) return undefined;
    const failed = event.workflowTaskFailedEventAttributes;
    if (!failed) continue;
    const cause = nameOf(failed.cause ?? 0);
    if (HARMLESS.has(cause)) return undefined;
    const message = failed.failure?.message ?? '';
    return { kind: KINDS[cause] ?? 'other', cause, message, worker: failed.identity ?? '' };
  }
  return undefined;
}

function nameOf(code: number): string {
  // Absent from the table: a cause that this library does not know yet.
  const name: string | undefined = WorkflowTaskFailedCause[code];
  return (name ?? `cause ${code}`).replace(PREFIX, '');
}
