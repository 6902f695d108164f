import { Context } from '@temporalio/activity';
import type { Spent } from '../contract/activity';
import type { PortFailure } from '../contract/failure';
import { PortError } from '../contract/port-error';
import { shortTime } from '../conversation/retry-notice';
import type { ModelRequest, ModelResponse } from '../model/port';
import type { Window } from '../transcript/window-cache';
import type { Host } from './host';
import { planRetry } from './retry-plan';
import { createSpending } from './spending';
import type { Step } from './step';

/** How long one model call is tried again where the run does not say. */
const DEFAULT_WAIT_MS = 30 * 60_000;
/** Of the attempt's time: after it Temporal would end the attempt without a word about why. */
const ANSWER_SHARE = 0.95;

export interface Asked {
  readonly response: ModelResponse;
  /** What earlier tries cost. */
  readonly spent?: Spent;
}

/**
 * One try of a model call: shows the answer as it comes, and turns what goes wrong into what follows from it: the next
 * try and when it comes, or the end of trying. What the tries cost goes from one to the next, and into the failure.
 */
export async function askModel(
  host: Host,
  step: Step,
  { input }: Window,
  request: ModelRequest,
  spentBefore?: Spent,
): Promise<Asked> {
  const { startToCloseTimeoutMs } = Context.current().info;
  const answerMs = Math.round(startToCloseTimeoutMs * ANSWER_SHARE);
  const late = AbortSignal.timeout(answerMs);
  const spending = createSpending(host.costUsd, step.spentBefore ?? spentBefore);
  try {
    const response = await host.models(input.model).respond(request, {
      signal: AbortSignal.any([step.signal, late]),
      onProgress: progressOf(step, spending),
    });
    const spent = spending.before;
    return { response, ...(spent === undefined ? {} : { spent }) };
  } catch (error) {
    step.signal.throwIfAborted();
    const failure = error instanceof PortError ? error.failure : late.aborted ? tooSlow(answerMs) : undefined;
    if (failure === undefined) throw error;
    const planned = planRetry(failure, budgetOf(input, step), { now: Date.now(), random: Math.random() });
    const spent = spending.total();
    throw new PortError({ ...planned, ...(spent === undefined ? {} : { spent }) }, { cause: error });
  }
}

function budgetOf({ limits, timeouts }: Window['input'], { attempt }: Step) {
  return {
    tryNumber: attempt,
    maxTries: timeouts.modelAttempts,
    startedAt: Context.current().info.scheduledTimestampMs,
    budgetMs: limits.modelWaitMs ?? DEFAULT_WAIT_MS,
    initialMs: timeouts.retryInitialMs,
    maxMs: timeouts.retryMaxMs,
  };
}

function tooSlow(answerMs: number): PortFailure {
  const detail = `The model's answer was not complete within ${shortTime(answerMs)}.`;
  return { class: 'stalled', retryable: true, detail };
}

function progressOf(step: Step, spending: ReturnType<typeof createSpending>) {
  let tail = '';
  let bytes = 0;
  return ({
    text,
    spent,
  }: {
    readonly text: string;
    readonly spent?: Pick<ModelResponse, 'model' | 'usage'>;
  }): void => {
    bytes += text.length;
    tail = (tail + text).slice(-4_000);
    if (spent !== undefined) spending.now(spent);
    step.progress(tail, bytes, spending.total());
  };
}
