import type { StepProgress } from '../contract/activity';
import type { PortFailure } from '../contract/failure';
import { createCodecs } from '../temporal/data-converter';
import { toMs } from '../temporal/pollers';
import { decodePayloads } from '../transcript/payloads';
import type { Session } from './session';

/** An activity that has not ended, as the server sees it now. */
export interface PendingActivity {
  readonly activityId: string;
  /** The queue that it waits on; its host's. Older servers do not say. */
  readonly queue?: string;
  /** Delivered to a worker. */
  readonly started: boolean;
  readonly attempt: number;
  /** When it was put on its queue, or is next: ms since the epoch. */
  readonly scheduledAt: number;
  readonly progress?: StepProgress;
  /** Why the attempt before ended. */
  readonly lastFailure?: string;
  /** The same as its port named it. */
  readonly portFailure?: PortFailure;
}

/** What only the server knows about an open run; none of it is in history. */
export interface Pending {
  readonly workflowId: string;
  readonly runId: string;
  readonly open: boolean;
  readonly taskQueue: string;
  readonly activities: readonly PendingActivity[];
  /** A workflow task that waits for a worker or fails again and again. */
  readonly workflowTask?: { readonly attempt: number; readonly scheduledAt: number; readonly started: boolean };
}

const STATE_STARTED = 2;
const TIMEOUT_MS = 3_000;

/** Asks the server what the run is at. Strongly consistent, needs no worker. @throws the gRPC error. */
export async function describePending({ client }: Session, workflowId: string): Promise<Pending> {
  const run = await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
    client.workflow.getHandle(workflowId).describe(),
  );
  const task = run.raw.pendingWorkflowTask;
  return {
    workflowId,
    runId: run.runId,
    open: run.status.name === 'RUNNING' || run.status.name === 'PAUSED',
    taskQueue: run.taskQueue,
    activities: await Promise.all((run.raw.pendingActivities ?? []).map(toActivity)),
    ...(task === null || task === undefined
      ? {}
      : {
          workflowTask: {
            attempt: task.attempt ?? 1,
            scheduledAt: toMs(task.originalScheduledTime ?? task.scheduledTime),
            started: Boolean(task.startedTime),
          },
        }),
  };
}

type RawActivity = NonNullable<
  Awaited<ReturnType<Session['client']['workflowService']['describeWorkflowExecution']>>['pendingActivities']
>[number];

async function toActivity(raw: RawActivity): Promise<PendingActivity> {
  const [progress] = await decodePayloads(raw.heartbeatDetails?.payloads, createCodecs());
  const lastFailure = raw.lastFailure?.message;
  const details = raw.lastFailure?.applicationFailureInfo?.details?.payloads;
  const [portFailure] = await decodePayloads(details, createCodecs());
  const queue = raw.activityOptions?.taskQueue?.name;
  return {
    activityId: raw.activityId ?? '',
    ...(queue ? { queue } : {}),
    started: Number(raw.state) === STATE_STARTED,
    attempt: raw.attempt ?? 1,
    scheduledAt: toMs(raw.scheduledTime),
    ...(isProgress(progress) && progress.attempt === raw.attempt ? { progress } : {}),
    ...(lastFailure ? { lastFailure } : {}),
    ...(isPortFailure(portFailure) ? { portFailure } : {}),
  };
}

function isPortFailure(value: unknown): value is PortFailure {
  return typeof value === 'object' && value !== null && 'class' in value && 'detail' in value;
}

function isProgress(value: unknown): value is StepProgress {
  return (
    typeof value === 'object' &&
    value !== null &&
    'tail' in value &&
    typeof value.tail === 'string' &&
    'attempt' in value
  );
}
