import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  TimeoutFailure,
  proxyActivities,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { HostActivities } from '../contract/activities';
import type { Spent } from '../contract/activity';
import type { PortFailure } from '../contract/failure';
import { FAILURE } from '../contract/names';
import type { RunInput } from '../contract/run-input';
import { cutText, fit } from '../conversation/fit';
import { MAX_MESSAGE_BYTES } from '../conversation/limits';
import { ordinal } from '../conversation/retry-notice';
import { lastProgress } from './spent';

/** Temporal's own limit is 400 bytes; some servers enforce it. */
const MAX_SUMMARY_BYTES = 380;
/** An input beyond this is a bug or an attack: the rest of what a call may carry is small. */
const MAX_INPUT_BYTES = MAX_MESSAGE_BYTES + 16 * 1024;

/** Deliveries of a step, over worker losses. The host's journal, not this number, keeps a change from being repeated. */
export const STEP_ATTEMPTS = 50;

/** The host's activities: each call brings its own options. */
export const hostActivities = proxyActivities<HostActivities>({ startToCloseTimeout: '1 minute' });

export interface HostCall {
  readonly activityId: string;
  /** One line for the Web UI's timeline; it begins with the turn. */
  readonly summary: string;
  readonly startToCloseMs: number;
  readonly maximumAttempts: number;
}

/** What earlier schedulings of a call used up: the attempts of each begin anew. */
export interface Before {
  readonly tries: number;
  readonly spent?: Spent;
}

export type CallHost = <Result>(
  call: HostCall,
  invoke: (options: ActivityOptions, seq: number, before: Before) => Promise<Result>,
) => Promise<Result>;

/**
 * Calls an activity on the run's host. A host that is away is a wait, not an end: the same activity is scheduled again
 * with a longer timeout until `limits.hostWaitMs` is used up. `onWaiting` hears of each round, and of the end (0).
 */
export function createHostCalls(input: RunInput, onWaiting: (round: number) => void): CallHost {
  const { timeouts, limits } = input;

  return async (call, invoke) => {
    let timeoutMs = timeouts.scheduleToStartMs;
    let waitedMs = 0;
    let before: Before = { tries: 0 };
    for (let seq = 1; ; seq += 1) {
      const roundMs = Math.max(1, Math.min(timeoutMs, limits.hostWaitMs - waitedMs));
      try {
        const result = await invoke(activityOptions(input, call, seq, roundMs), seq, before);
        if (seq > 1) onWaiting(0);
        return result;
      } catch (error) {
        if (!isHostAway(error)) throw error;
        const { attempt = 0, spent } = lastProgress(error);
        before = { ...before, tries: before.tries + attempt, ...(spent === undefined ? {} : { spent }) };
        waitedMs += roundMs;
        if (waitedMs >= limits.hostWaitMs) throw hostUnavailable(input, waitedMs);
        timeoutMs = Math.min(timeoutMs * 2, timeouts.hostWaitMaxMs);
        onWaiting(seq);
      }
    }
  };
}

/** Bounds an activity's input: one payload too large would block the run for ever. */
export function fitInput<T>(input: T): T {
  return fit(input, MAX_INPUT_BYTES);
}

function activityOptions(input: RunInput, call: HostCall, seq: number, scheduleToStartMs: number): ActivityOptions {
  const { timeouts } = input;
  const waiting = seq === 1 ? '' : ` (waiting for host, ${ordinal(seq)})`;
  return {
    activityId: call.activityId,
    summary: `${cutText(call.summary, MAX_SUMMARY_BYTES - 40)}${waiting}`,
    taskQueue: input.hostQueue,
    startToCloseTimeout: call.startToCloseMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    scheduleToStartTimeout: scheduleToStartMs,
    // Written out: the default abandons the activity, and a tool would run on behind a closed run.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      maximumAttempts: call.maximumAttempts,
      initialInterval: timeouts.retryInitialMs,
      maximumInterval: timeouts.retryMaxMs,
      backoffCoefficient: 2,
    },
  };
}

function isHostAway(error: unknown): boolean {
  return (
    error instanceof ActivityFailure &&
    error.cause instanceof TimeoutFailure &&
    error.cause.timeoutType === 'SCHEDULE_TO_START'
  );
}

function hostUnavailable(input: RunInput, waitedMs: number): ApplicationFailure {
  const detail = `no worker of host ${input.hostId} took this step within ${String(Math.round(waitedMs / 1000))} s; start one there with \`surehand worker\``;
  const failure: PortFailure = { class: 'host_unavailable', retryable: false, detail };
  return ApplicationFailure.nonRetryable(detail, FAILURE.portFailure, failure);
}
