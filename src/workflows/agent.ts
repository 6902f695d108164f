import { CancellationScope, continueAsNew, isCancellation } from '@temporalio/workflow';
import type { ResultDocument } from '../contract/result-document';
import type { RunInput } from '../contract/run-input';
import type { Conversation } from '../conversation/conversation';
import { decideNext, type Next } from '../conversation/decide';
import { timeLimitReached } from '../conversation/limits';
import { closeRun } from './close-run';
import { openRun, type Run } from './run';
import { toRunError } from './run-error';
import { withinTimeLimit } from './time-limit';

/**
 * One conversation with a coding agent. `decideNext` holds the whole policy; this loop only does what it says. Every way
 * out goes through `closeRun`, which leaves a valid transcript and the result.
 */
export async function agentWorkflow(input: RunInput, carried?: Conversation): Promise<ResultDocument> {
  const run = openRun(input, carried);
  const root = CancellationScope.current();
  let way: WayOut;
  try {
    way = await withinTimeLimit(run.conversation.deadlineAt, () => converse(run));
  } catch (thrown) {
    const timeIsUp = isCancellation(thrown) && !root.consideredCancelled;
    way = { do: 'end', error: timeIsUp ? timeLimitReached(input.limits) : toRunError(thrown) };
  }
  if (way.do === 'end') return closeRun(run, way.error);
  return continueAsNew<typeof agentWorkflow>(input, run.conversation);
}

/** The conversation ended, or goes on in a new run of its chain, which keeps each run's history short. */
type WayOut = Extract<Next, { readonly do: 'end' }> | { readonly do: 'continue' };

async function converse(run: Run): Promise<WayOut> {
  if (run.conversation.facts === null) await run.prepare();
  for (;;) {
    run.takeMessages();
    const next = decideNext(run.conversation, run.input, Date.now(), run.rules);
    if (next.do !== 'end' && (await run.isFull())) return { do: 'continue' };
    switch (next.do) {
      case 'callModel':
        await run.callModel();
        break;
      case 'compact':
        await run.compact(next.keepFrom);
        break;
      case 'runBatch':
        await run.runBatch(next.calls);
        break;
      case 'nudge':
        run.nudge(next);
        break;
      case 'waitForMessage':
        await run.waitForMessage();
        break;
      case 'end':
        return next;
    }
  }
}
