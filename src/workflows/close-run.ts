import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { FinishResult } from '../contract/activity';
import { MEMO } from '../contract/names';
import type { ResultDocument, RunError } from '../contract/result-document';
import { fitDocument, resultDocument, tailOf } from '../conversation/ending';
import { fit } from '../conversation/fit';
import { settleOpenCalls } from '../conversation/record';
import { hostActivities } from './host-calls';
import type { Run } from './run';

const NOT_RUN = 'Not run: the run was stopped before this call.';
/** A payload of the completed workflow; Temporal refuses 2 MiB. */
const MAX_RESULT_BYTES = 1024 * 1024;

/**
 * Ends a run in every outcome: each call gets its result, the workspace is given back, the result document and the tail of
 * the transcript go to the memo (a cancelled workflow's details are dropped by the server), then Temporal is told the
 * truth: completed, cancelled, or failed with the outcome as the failure's type.
 */
export async function closeRun(run: Run, error: RunError | null): Promise<ResultDocument> {
  return CancellationScope.nonCancellable(async () => {
    run.closing = true;
    run.conversation = settleOpenCalls(run.conversation, NOT_RUN);
    run.report.now('closing');
    const { filesChanged } = await giveBackWorkspace(run);
    // What the host saw in the workspace is more than what tools said; without the host there is only that.
    if (filesChanged !== undefined) run.conversation = { ...run.conversation, filesChanged };
    const { workflowId } = workflowInfo();
    const document = resultDocument(run.conversation, { error, workflowId, now: Date.now() });
    upsertMemo({
      [MEMO.result]: fitDocument(document),
      [MEMO.tail]: tailOf(run.conversation),
      [MEMO.unread]: fit(
        run.conversation.queue.map(({ id }) => id),
        16 * 1024,
      ),
    });
    run.report.now(error === null ? 'done' : error.message, document.outcome);
    run.report.publish(run.conversation);
    if (document.outcome === 'done') return fit(document, MAX_RESULT_BYTES);
    if (document.outcome === 'cancelled') throw new CancelledFailure('the run was cancelled');
    throw ApplicationFailure.nonRetryable(error?.message ?? '', document.outcome, fitDocument(document));
  });
}

/** A host that is away must not keep a run from ending: the lease falls to the next run once this one is closed. */
async function giveBackWorkspace(run: Run): Promise<FinishResult> {
  if (run.conversation.facts === null) return {};
  const { finishMs, heartbeatMs } = run.input.timeouts;
  const options = {
    activityId: 'finish',
    summary: `${String(run.conversation.turn)} · give back the workspace`,
    taskQueue: run.input.hostQueue,
    startToCloseTimeout: finishMs,
    scheduleToCloseTimeout: finishMs,
    heartbeatTimeout: heartbeatMs,
    retry: { maximumAttempts: 3, initialInterval: 100 },
  };
  try {
    const result: FinishResult | undefined = await hostActivities.finishWorkspace.executeWithOptions(options, [
      { seq: 1, firstRunId: run.conversation.firstRunId },
    ]);
    // A worker of an earlier build has nothing to tell.
    return result ?? {};
  } catch {
    return {};
  }
}
