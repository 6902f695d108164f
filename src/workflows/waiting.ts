import { condition, workflowInfo } from '@temporalio/workflow';
import { hostActivities, STEP_ATTEMPTS } from './host-calls';
import type { Run } from './run';

/** Nobody knows for how long: meanwhile another run may have the workspace, so its lease is given up. */
export async function waitForMessage(run: Run): Promise<void> {
  if (run.conversation.holdsWorkspace) await leaveWorkspace(run);
  const { workflowId } = workflowInfo();
  run.report.now(`waiting for the next message: \`surehand send ${workflowId} "…"\``, 'waiting-for-message');
  run.report.publish(run.conversation);
  await condition(() => run.conversation.queue.length > 0);
  run.report.now('reading the message', 'working');
}

async function leaveWorkspace(run: Run): Promise<void> {
  const { timeouts } = run.input;
  const call = {
    activityId: `leave-${String(run.conversation.turn)}`,
    summary: `${String(run.conversation.turn)} · give back the workspace until the next message`,
    startToCloseMs: timeouts.prepareMs,
    maximumAttempts: STEP_ATTEMPTS,
  };
  await run.callHost(call, (options, seq) =>
    hostActivities.finishWorkspace.executeWithOptions(options, [
      { seq, firstRunId: run.conversation.firstRunId, pause: true },
    ]),
  );
  run.conversation = { ...run.conversation, holdsWorkspace: false };
}
