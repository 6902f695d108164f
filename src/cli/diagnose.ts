import { setTimeout as sleep } from 'node:timers/promises';
import type { Pending } from './pending';
import { describePending, toMs } from './pending';
import type { Session } from './session';

const WORKFLOW_QUEUE = 1;
const ACTIVITY_QUEUE = 2;
/** A worker asks again at least this often; one that was killed stays on the server's list for minutes. */
const POLLER_GONE_MS = 75_000;
const WAITS_TOO_LONG_MS = 10_000;
const LOOK_AGAIN_MS = 2_000;
const FAILS_TOO_OFTEN = 4;
const TIMEOUT_MS = 3_000;

/**
 * Why an open run does not go on, in one sentence with what to do; `undefined` when it does, or just has not yet.
 * @throws the gRPC error.
 */
export async function diagnose(
  session: Session,
  pending: Pending,
  { command, now = Date.now() }: { readonly command: string; readonly now?: number },
): Promise<string | undefined> {
  if (!pending.open) return undefined;
  const task = pending.workflowTask;
  if (task !== undefined && now - task.scheduledAt > WAITS_TOO_LONG_MS) {
    if (task.attempt >= FAILS_TOO_OFTEN) {
      return (
        `The run is stuck: its workflow task failed ${task.attempt} times. The worker’s log says why ` +
        '(a worker of another version may not be able to replay it); the run goes on once a worker can.'
      );
    }
    if (!(await hasPoller(session, { queue: pending.taskQueue, type: WORKFLOW_QUEUE, now }))) {
      return `No worker takes workflow tasks from the queue ${pending.taskQueue}. ${howToStart(session, command)}`;
    }
  }
  const waiting = pending.activities.find(
    ({ started, scheduledAt }) => !started && now - scheduledAt > WAITS_TOO_LONG_MS,
  );
  if (waiting === undefined) return undefined;
  if (await hasPoller(session, { queue: session.hostQueue, type: ACTIVITY_QUEUE, now })) return undefined;
  return `No worker takes the steps of this host (queue ${session.hostQueue}). ${howToStart(session, command)}`;
}

/** Looks now and then until there is something to say, or `signal` ends it (`undefined`). */
export async function untilProblem(
  session: Session,
  workflowId: string,
  { command, signal }: { readonly command: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  while (!signal.aborted) {
    await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    // A server that is away is another matter.
    const problem = await describePending(session, workflowId)
      .then((pending) => diagnose(session, pending, { command }))
      .catch(() => undefined);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function howToStart(session: Session, command: string): string {
  return session.embedded
    ? `The local daemon should bring it back; if not: ${command} down, then this command again.`
    : `Start one on the host of the workspace: ${command} worker`;
}

interface QueueQuestion {
  readonly queue: string;
  readonly type: typeof WORKFLOW_QUEUE | typeof ACTIVITY_QUEUE;
  readonly now: number;
}

async function hasPoller({ client, namespace }: Session, { queue, type, now }: QueueQuestion): Promise<boolean> {
  const { pollers } = await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
    client.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType: type }),
  );
  return pollers.some(({ lastAccessTime }) => now - toMs(lastAccessTime) < POLLER_GONE_MS);
}

/** Whether any worker has lately asked for work of this session's host. */
export async function hasWorker(session: Session): Promise<boolean> {
  return hasPoller(session, { queue: session.hostQueue, type: ACTIVITY_QUEUE, now: Date.now() });
}
