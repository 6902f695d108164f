import type { StepProgress } from '../contract/activity';
import { createCodecs } from '../temporal/data-converter';
import { decodePayloads } from '../transcript/payloads';
import type { Session } from './session';

/** An activity that has not ended, as the server sees it now. */
export interface PendingActivity {
  readonly activityId: string;
  /** Delivered to a worker. */
  readonly started: boolean;
  readonly attempt: number;
  /** When it was put on its queue, or is next: ms since the epoch. */
  readonly scheduledAt: number;
  readonly progress?: StepProgress;
  /** Why the attempt before ended. */
  readonly lastFailure?: string;
}

/** What only the server knows about an open run; none of it is in history. */
export interface Pending {
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
  return {
    activityId: raw.activityId ?? '',
    started: Number(raw.state) === STATE_STARTED,
    attempt: raw.attempt ?? 1,
    scheduledAt: toMs(raw.scheduledTime),
    ...(isProgress(progress) && progress.attempt === raw.attempt ? { progress } : {}),
    ...(lastFailure ? { lastFailure } : {}),
  };
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

/** Of a protobuf timestamp; 0 when it is missing. */
export function toMs(time: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined): number {
  return time === null || time === undefined
    ? 0
    : Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6);
}
