import { setTimeout as sleep } from 'node:timers/promises';
import { livePollers } from '../temporal/pollers';
import type { QueueQuestion } from '../temporal/pollers';
import { lastTaskFailure } from '../temporal/task-failure';
import type { TaskFailure } from '../temporal/task-failure';
import { countOf } from './format';
import type { Pending } from './pending';
import { describePending } from './pending';
import type { Session } from './session';
import { visibleLine, visibleText } from './visible-text';

const WAITS_TOO_LONG_MS = 10_000;
const LOOK_AGAIN_MS = 2_000;
const FAILS_TOO_OFTEN = 4;

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
      const failure = await lastTaskFailure(session.client, pending);
      const { what, mend } = describeTaskFailure(failure, {
        ...{ attempts: task.attempt, command },
        workflowId: pending.workflowId,
      });
      return `The run is stuck: ${what}. ${mend}`;
    }
    if (!(await isPolled(session, { queue: pending.taskQueue, kind: 'workflow' }, now))) {
      return `No worker takes workflow tasks from the queue ${pending.taskQueue}. ${howToStart(session, command)}`;
    }
  }
  const waiting = pending.activities.find(
    ({ started, scheduledAt }) => !started && now - scheduledAt > WAITS_TOO_LONG_MS,
  );
  if (waiting === undefined) return undefined;
  const queue = waiting.queue ?? session.hostQueue;
  if (await isPolled(session, { queue, kind: 'activity' }, now)) return undefined;
  if (queue === session.hostQueue) {
    return `No worker takes the steps of this host (queue ${queue}). ${howToStart(session, command)}`;
  }
  return (
    `No worker takes the steps of the host that has the workspace (queue ${queue}); the run waits for it. ` +
    `Start one there: ${command} worker`
  );
}

interface TroubledRun {
  readonly workflowId: string;
  readonly attempts: number;
  /** How the person calls the program. */
  readonly command: string;
}

/** What made a workflow task fail so often, and what to do. */
export function describeTaskFailure(
  failure: TaskFailure | undefined,
  { attempts, command, workflowId }: TroubledRun,
): { readonly what: string; readonly mend: string } {
  const failed = `its workflow task failed ${countOf(attempts, 'time')}`;
  if (failure === undefined) {
    const mend =
      'The worker’s log says why (a worker of another version may not be able to replay it); the run goes on once a worker can.';
    return { what: failed, mend };
  }
  return {
    what: `${failed} (${failure.cause}: ${visibleLine(failure.message, MAX_MESSAGE)})`,
    mend: howToMend(failure, { command, workflowId }),
  };
}

function howToMend(
  { kind, worker }: TaskFailure,
  { command, workflowId }: Pick<TroubledRun, 'command' | 'workflowId'>,
): string {
  switch (kind) {
    case 'cannot-replay':
      return (
        `The build of the worker ${worker} cannot replay it. Start a worker of the build that it began with, ` +
        `or end it: ${command} abandon ${visibleText(workflowId)}`
      );
    case 'search-attribute':
      return `A search attribute is not registered. Mend it: ${command} doctor --fix`;
    case 'too-large':
      return 'What it wants to send is too large for the server; raise its limits, or end the run.';
    case 'bug':
    case 'other':
      return `The run goes on once a worker can do it; the log of the worker ${worker} says more.`;
  }
}

const MAX_MESSAGE = 300;

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

async function isPolled({ client }: Session, question: QueueQuestion, now: number): Promise<boolean> {
  return (await livePollers(client, question, now)).length > 0;
}

/** Whether any worker has lately asked for work of this session's host. */
export async function hasWorker(session: Session): Promise<boolean> {
  return isPolled(session, { queue: session.hostQueue, kind: 'activity' }, Date.now());
}
