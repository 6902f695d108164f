import {
  ActivityFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  patched,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { TOOLS } from '../contract/names';
import type { RunState } from '../contract/outcome';
import type { RunInput } from '../contract/run-input';
import { openConversation, type CallState, type Conversation } from '../conversation/conversation';
import type { Next, Rules } from '../conversation/decide';
import { mustContinue } from '../conversation/continuation';
import { cutText } from '../conversation/fit';
import { drain } from '../conversation/inbox';
import { migrate } from '../conversation/migrate';
import { shareBytes } from '../conversation/limits';
import { recordEnvelopes, recordInline, recordNudge, recordPrepared, recordTool } from '../conversation/record';
import { createHostCalls, hostActivities, STEP_ATTEMPTS, type CallHost } from './host-calls';
import { openInbox, type InboxOwner } from './inbox';
import { callModel, compact } from './model-steps';
import { createReport, type Report } from './report';
import { toRunError } from './run-error';
import { waitForMessage } from './waiting';

/** Bytes of the task on the page of a continued run. */
const MAX_TASK_SHOWN = 300;

const INTERRUPTED =
  'Interrupted: the run was stopped while this call was running. It may have had none, some or all of its effects.';
const LOST =
  'The outcome of this call is not known: the worker was lost while it ran. It may have had none, some or all of its effects, and it was not repeated. Look before you repeat it.';

/** One run of a conversation: the steps that the loop is made of. */
export interface Run extends InboxOwner {
  readonly input: RunInput;
  readonly report: Report;
  readonly callHost: CallHost;
  readonly rules: Rules;
  prepare(): Promise<void>;
  takeMessages(): void;
  callModel(): Promise<void>;
  compact(keepFrom: string): Promise<void>;
  runBatch(calls: readonly CallState[]): Promise<void>;
  nudge(next: Extract<Next, { readonly do: 'nudge' }>): void;
  waitForMessage(): Promise<void>;
  /** Whether this run of the chain is full; when it says so, nothing stands in the way of continuing as new. */
  isFull(): Promise<boolean>;
}

/** Opens the run and its inbox. Handlers stand before anything is awaited. */
export function openRun(input: RunInput, carried: Conversation | undefined): Run {
  const { firstExecutionRunId: runId, startTime } = workflowInfo();
  const report = createReport(input, carried === undefined ? '' : backgroundOf(input));
  const callHost = createHostCalls(input, (round) => {
    showWaiting(run, round);
  });
  const run: Run = {
    input,
    report,
    callHost,
    rules: patched('rules-2') ? 2 : 1,
    conversation:
      carried === undefined ? openConversation({ input, runId, now: startTime.getTime() }) : migrate(carried),
    closing: false,
    answeredAt: -1,
    status: () => statusOf(run),
    prepare: () => prepare(run),
    takeMessages: () => {
      const { conversation, envelopes } = drain(run.conversation);
      run.conversation = recordEnvelopes(conversation, envelopes);
    },
    callModel: () => callModel(run),
    compact: (keepFrom) => compact(run, keepFrom),
    runBatch: (calls) => runBatch(run, calls),
    nudge: (next) => {
      run.conversation = recordNudge(run.conversation, next);
    },
    waitForMessage: () => waitForMessage(run),
    isFull: () => isFull(run, turnsAtStart),
  };
  const turnsAtStart = run.conversation.turn;
  report.plan(run.conversation.todos);
  openInbox(run);
  return run;
}

/** Temporal does not carry a run's summary and details over to the next of its chain. */
function backgroundOf({ task, workspace, model }: RunInput): string {
  const { workflowId } = workflowInfo();
  const [firstLine] = cutText(task.trim(), MAX_TASK_SHOWN).split('\n');
  return [
    '',
    `**Task** ${firstLine ?? ''}`,
    `**Workspace** \`${workspace}\` · **Model** ${model.model}`,
    `The conversation began in an earlier run of this chain: \`surehand show ${workflowId}\` has it whole.`,
  ].join('\n\n');
}

async function prepare(run: Run): Promise<void> {
  const { input } = run;
  run.report.now(`preparing ${input.workspace}`);
  const call = {
    activityId: 'prepare',
    summary: `0 · prepare ${input.workspace}`,
    startToCloseMs: input.timeouts.prepareMs,
    maximumAttempts: STEP_ATTEMPTS,
  };
  const result = await run.callHost(call, (options, seq) =>
    hostActivities.prepareWorkspace.executeWithOptions(options, [{ seq, firstRunId: run.conversation.firstRunId }]),
  );
  run.conversation = recordPrepared(run.conversation, result, input);
}

/** All calls end before this returns, also when one of them was cancelled: nothing runs on behind the loop. */
async function runBatch(run: Run, calls: readonly CallState[]): Promise<void> {
  run.report.now(calls.map(({ call, plan }) => `${call} ${plan.name} ${plan.summary}`).join(', '));
  // A change takes the workspace again where it was given up.
  if (calls.some(({ plan }) => plan.effect === 'write'))
    run.conversation = { ...run.conversation, holdsWorkspace: true };
  const outcomes = await Promise.allSettled(calls.map((call) => runCall(run, call)));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function runCall(run: Run, { call, plan, input, grant }: CallState): Promise<void> {
  const { callId, name, digest } = plan;
  const isChange = plan.effect === 'write';
  const share = shareBytes(run.conversation.calls.filter(({ plan: { known } }) => known).length);
  const hostCall = {
    activityId: `tool-${call}`,
    summary: `${String(run.conversation.turn)} · ${name} ${plan.summary}`,
    startToCloseMs: run.input.timeouts.toolCallMs,
    maximumAttempts: STEP_ATTEMPTS,
  };
  const granted = grant === undefined ? {} : { grant };
  try {
    const result = await run.callHost(hostCall, (options, seq) =>
      hostActivities.runTool.executeWithOptions(options, [
        { seq, call, callId, name, input, digest, shareBytes: share, ...granted },
      ]),
    );
    run.conversation = recordTool(run.conversation, result);
    if (name === TOOLS.todo) run.report.plan(run.conversation.todos);
  } catch (error) {
    if (isCancellation(error)) {
      run.conversation = recordInline(run.conversation, call, INTERRUPTED);
      throw error;
    }
    if (!(error instanceof ActivityFailure)) throw error;
    const { class: kind, message } = toRunError(error);
    const lost = kind === 'worker_lost' && isChange;
    run.conversation = recordInline(run.conversation, call, lost ? LOST : `The call failed: ${message}`);
  }
}

/**
 * A cancellation that was requested meanwhile would be lost in the new run, and the answer of an update that is given in
 * the very task that continues as new may get lost on its way: the one ends the run instead, the other is let out first.
 */
async function isFull(run: Run, turnsAtStart: number): Promise<boolean> {
  const length = { suggested: workflowInfo().continueAsNewSuggested, turnsAtStart };
  if (!mustContinue(run.conversation, run.input, length) || !patched('continue-as-new')) return false;
  while (run.answeredAt === workflowInfo().historyLength) await sleep(1);
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the run was cancelled');
  return true;
}

function showWaiting(run: Run, round: number): void {
  const host = run.input.hostId;
  const text = `no worker of host ${host} answers; start one there with \`surehand worker\``;
  if (round > 0) run.report.now(text, 'waiting-for-host');
  else run.report.now('the host is back', 'working');
  run.report.publish(run.conversation);
}

function statusOf({ conversation, report }: Run) {
  const { turn, queue, usage, costUsd } = conversation;
  const state: RunState = report.state;
  return { state, turn, doing: report.doing, queued: queue.length, usage, costUsd };
}
