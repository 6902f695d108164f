import { addedRefs } from '../conversation/conversation';
import { compactionNotes, recordCompaction, summaryActivity, untoldCompactions } from '../conversation/compaction';
import { outputBudget } from '../conversation/limits';
import { recordModel, recordOverflow } from '../conversation/record';
import { addSpent } from '../conversation/usage';
import { fitInput, hostActivities } from './host-calls';
import type { Run } from './run';
import { toRunError } from './run-error';
import { spentOf } from './spent';

/** One turn of the model. A window that does not fit is noted: the loop makes it smaller. */
export async function callModel(run: Run): Promise<void> {
  const { input, conversation } = run;
  const turn = conversation.turn + 1;
  run.report.now(`turn ${String(turn)}: the model is thinking`);
  const call = {
    activityId: `model-${String(turn)}`,
    summary: `${String(turn)} · model ${input.model.model}`,
    startToCloseMs: input.timeouts.modelCallMs,
    maximumAttempts: input.timeouts.modelAttempts,
  };
  const { after, triesBefore } = conversation;
  const added = addedRefs(conversation);
  const maxOutputTokens = outputBudget(conversation, input.limits);
  try {
    const result = await run.callHost(call, (options, seq, before) => {
      const spent = before.spent === undefined ? {} : { spentBefore: before.spent };
      const tries = triesBefore + before.tries;
      const request = { seq, turn, after, added, maxOutputTokens, triesBefore: tries, ...spent };
      return hostActivities.callModel.executeWithOptions(options, [fitInput(request)]);
    });
    run.conversation = recordModel(run.conversation, result);
  } catch (error) {
    run.conversation = addSpent(run.conversation, spentOf(error));
    if (run.rules === 1 || toRunError(error).class !== 'context_window') throw error;
    run.conversation = recordOverflow(run.conversation);
  }
  run.report.publish(run.conversation);
}

/** What came before `keepFrom` becomes a summary. One that does not help leaves the window as it is. */
export async function compact(run: Run, keepFrom: string): Promise<void> {
  const { input, conversation } = run;
  const n = conversation.compactions.count + 1;
  run.report.now(`turn ${String(conversation.turn)}: summarizing what came before`);
  const call = {
    activityId: summaryActivity(n),
    summary: `${String(conversation.turn)} · summarize what came before`,
    startToCloseMs: input.timeouts.modelCallMs,
    maximumAttempts: input.timeouts.modelAttempts,
  };
  const request = {
    n,
    turn: conversation.turn + 1,
    after: conversation.after,
    added: untoldCompactions(conversation),
    keepFrom,
    maxOutputTokens: input.limits.maxOutputTokens,
    notes: compactionNotes(conversation),
  };
  try {
    const result = await run.callHost(call, (options, seq) =>
      hostActivities.summarize.executeWithOptions(options, [fitInput({ seq, ...request })]),
    );
    run.conversation = recordCompaction(run.conversation, result, keepFrom);
  } catch (error) {
    run.conversation = addSpent(run.conversation, spentOf(error));
    throw error;
  }
}
