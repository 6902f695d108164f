import { ApplicationFailure } from '@temporalio/activity';
import {
  ActivityNotFoundError,
  WorkflowNotFoundError,
  isGrpcServiceError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
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
/** Of gRPC: what was asked about is not there any more; the server is not. */
const NOT_FOUND = [5];
const UNREACHABLE = [4, 14];

export interface HandBackOptions {
  readonly client: Client;
  readonly hostId: string;
  /** Of this process, `surehand@<hostId>#<random>`. */
  readonly identity: string;
  readonly stateDirectory: string;
  readonly log: (text: string, fields: Readonly<Record<string, string>>) => void;
  readonly warn: (text: string) => void;
}

/**
 * Called by a booting worker that holds its host's lock, before it polls: every other process of this host id is dead, so
 * what is marked as started by one of them belongs to nobody. Each such attempt is given back at once, where its heartbeat
 * timeout would take half a minute; then commands that no open run owns are ended. What fails for one of them is said and
 * left to its timeout: it must not keep the others waiting for a worker.
 * @returns how many attempts were given back.
 */
export async function handBack(options: HandBackOptions): Promise<number> {
  let given = 0;
  try {
    for await (const run of runningWorkflows(options)) {
      const what = `the steps of ${run.workflowId} were not given back`;
      given += (await tolerating(options, what, () => handBackRun(options, run))) ?? 0;
    }
  } catch (error) {
    // Whoever starts this worker starts it again, and then there is somebody to give back to.
    if (isGrpcServiceError(error) && UNREACHABLE.includes(error.code)) throw error;
    options.warn(
      `no steps of a worker before this one were given back, they wait for their timeouts: ${String(error)}`,
    );
  }
  await sweep(options);
  return given;
}

/** A run, or its step, may end at any moment: then there is nothing to do. @returns undefined when the work failed. */
async function tolerating<Value>(
  { warn }: HandBackOptions,
  what: string,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isGone(error)) warn(`${what}: ${String(error)}`);
    return undefined;
  }
}

function isGone(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError || error instanceof ActivityNotFoundError) return true;
  return isGrpcServiceError(error) && NOT_FOUND.includes(error.code);
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
  let given = 0;
  for (const activity of lost) {
    const id = { workflowId, runId, activityId: activity.activityId ?? '' };
    const done = await tolerating(options, `${id.activityId} of ${workflowId} was not given back`, async () => {
      await handBackStep(options, id, Number(activity.state));
      return true;
    });
    if (done !== true) continue;
    given += 1;
    log('handed back', { ...id, identity });
  }
  if (lost.length > 0) await forgetStickyQueue(client, workflowId, runId);
  return given;
}

async function handBackStep(options: HandBackOptions, id: ActivityRef, state: number): Promise<void> {
  const { activity } = options.client;
  if (state !== CANCEL_REQUESTED) {
    await activity.fail(id, workerLost());
    return;
  }
  await stopCall(options, id);
  await activity.reportCancellation(id);
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

async function sweep(options: HandBackOptions): Promise<void> {
  const { client, stateDirectory, log } = options;
  for (const command of await liveCommands(stateDirectory)) {
    const [workflowId = ''] = command.callId.split('\n');
    await tolerating(options, `a command of ${workflowId} may run on`, async () => {
      if (!(await isRunClosed(client, workflowId))) return;
      await command.stop();
      log('ended a command of a closed run', { workflowId });
    });
  }
}
