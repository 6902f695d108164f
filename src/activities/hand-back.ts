import { ApplicationFailure } from '@temporalio/activity';
import type { Client, WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { FAILURE, WORKFLOW_TYPE } from '../contract/names';
import { liveCommands } from '../workspace/live-commands';
import { isRunClosed } from '../temporal/run-state';
import type { RunToolInput } from '../contract/activity';
import { callKey } from './run-toolbox';
import { readRun } from './read-run';

/** Of temporal.api.enums.v1.PendingActivityState. */
const STARTED = 2;
const CANCEL_REQUESTED = 3;
const MILLISECOND = 1;

export interface HandBackOptions {
  readonly client: Client;
  readonly hostId: string;
  /** Of this process, `surehand@<hostId>#<random>`. */
  readonly identity: string;
  readonly stateDirectory: string;
  readonly log: (text: string, fields: Readonly<Record<string, unknown>>) => void;
}

/**
 * Called by a booting worker that holds its host's lock, before it polls: every other process of this host id is dead, so
 * what is marked as started by one of them belongs to nobody. Each such attempt is given back at once, where its heartbeat
 * timeout would take half a minute; then commands that no open run owns are ended.
 * @returns how many attempts were given back.
 */
export async function handBack(options: HandBackOptions): Promise<number> {
  let given = 0;
  for await (const run of runningWorkflows(options)) given += await handBackRun(options, run);
  await sweep(options);
  return given;
}

/** By host where the attribute is registered, else all runs: what is not ours is recognised by its identity. */
async function* runningWorkflows({ client, hostId }: HandBackOptions): AsyncGenerator<WorkflowExecutionInfo> {
  const all = `WorkflowType = "${WORKFLOW_TYPE}" AND ExecutionStatus = "Running"`;
  try {
    yield* client.workflow.list({ query: `${all} AND SurehandHost = "${hostId}"` });
  } catch (error) {
    if (!String(error).includes('SurehandHost') && !hasDetail(error, 'SurehandHost')) throw error;
    yield* client.workflow.list({ query: all });
  }
}

function hasDetail(error: unknown, text: string): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return String(cause).includes(text);
}

async function handBackRun(options: HandBackOptions, run: WorkflowExecutionInfo): Promise<number> {
  const { client, identity, log } = options;
  const { workflowId, runId } = run;
  const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
  const lost = (raw.pendingActivities ?? []).filter((activity) => isLost(activity, options));
  for (const { activityId, state } of lost) {
    const id = { workflowId, runId, activityId: activityId ?? '' };
    if (Number(state) === CANCEL_REQUESTED) {
      await stopCall(options, id);
      await client.activity.reportCancellation(id);
    } else {
      await client.activity.fail(id, workerLost());
    }
    log('handed back', { ...id, identity });
  }
  if (lost.length > 0) await forgetStickyQueue(client, workflowId, runId);
  return lost.length;
}

type PendingActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

function isLost({ state, lastWorkerIdentity }: PendingActivity, { hostId, identity }: HandBackOptions): boolean {
  const inFlight = [STARTED, CANCEL_REQUESTED].includes(Number(state));
  const ours = lastWorkerIdentity?.startsWith(`surehand@${hostId}#`) === true;
  return inFlight && ours && lastWorkerIdentity !== identity;
}

function workerLost(): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'the worker that ran this step died',
    type: FAILURE.workerLost,
    nonRetryable: false,
    nextRetryDelay: MILLISECOND,
  });
}

/** The run was cancelled while no worker was there: its command must not run on. */
async function stopCall(options: HandBackOptions, id: ActivityRef): Promise<void> {
  const facts = await readRun(options.client, id, { headOnly: false });
  const input = facts.activities.get(id.activityId)?.input as Partial<RunToolInput> | undefined;
  if (input?.callId === undefined) return;
  const key = callKey(id.workflowId, input.callId);
  for (const command of await liveCommands(options.stateDirectory)) {
    if (command.callId === key) await command.stop();
  }
}

interface ActivityRef {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/** Without this the next workflow task waits for the dead worker's own queue. */
async function forgetStickyQueue(client: Client, workflowId: string, runId: string): Promise<void> {
  const { namespace } = client.options;
  await client.workflowService.resetStickyTaskQueue({ namespace, execution: { workflowId, runId } });
}

async function sweep({ client, stateDirectory, log }: HandBackOptions): Promise<void> {
  for (const command of await liveCommands(stateDirectory)) {
    const [workflowId] = command.callId.split('\n');
    if (workflowId === undefined || !(await isRunClosed(client, workflowId))) continue;
    await command.stop();
    log('ended a command of a closed run', { workflowId });
  }
}
