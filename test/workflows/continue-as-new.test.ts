import type { Envelope } from '../../src/contract/envelope';
import { CONVERSATION_QUERY, INBOX_SIGNAL, SEND_UPDATE } from '../../src/contract/names';
import type { RunInput } from '../../src/contract/run-input';
import type { Conversation } from '../../src/conversation/conversation';
import { messagesForModel } from '../../src/conversation/record';
import { createAgreeingWorkers, type AgreeingWorker } from '../support/agreeing-worker';
import { createGate } from '../support/gate';
import { keepFixture } from '../support/replay-fixtures';
import { runInput } from '../support/run-input';
import { readingScript, scripted } from '../support/scripts';
import { success, type TestTool } from '../support/test-toolbox';

const workers = createAgreeingWorkers('chain');

afterEach(() => workers.stop());

function inRunsOf(turnsPerRun: number, change: Partial<RunInput>): RunInput {
  const input = runInput(change);
  return { ...input, limits: { ...input.limits, turnsPerRun } };
}

/** Runs of the chain, oldest first, by the ids that their first events name. */
async function runsOf({ worker, workflowId }: AgreeingWorker): Promise<string[]> {
  const runs: string[] = [];
  for await (const { runId } of worker.temporal.client.workflow.list({ query: `WorkflowId="${workflowId}"` })) {
    runs.push(runId);
  }
  return runs;
}

async function conversationOf({ worker, workflowId }: AgreeingWorker): Promise<Conversation> {
  return worker.temporal.client.workflow.getHandle(workflowId).query<Conversation>(CONVERSATION_QUERY);
}

function envelope(id: string, text: string, at: number): Envelope {
  return { id, at, kind: 'message', body: { text }, by: 'test' };
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

test.each([
  ['every turn, so between the calls of a message and their results', 1, undefined],
  ['every third turn', 3, undefined],
  ['every third turn, without the window cache', 3, 0],
])('a run that continues as new %s → one transcript, one view, one result', async (_, turnsPerRun, cacheBytes) => {
  const setting = await workers.start({}, cacheBytes);
  const { worker, workflowId } = setting;
  const model = readingScript(8, (turn, n) => `text ${String(turn)}.${String(n)}`);

  const handle = await worker.start(inRunsOf(turnsPerRun, { model }), workflowId);
  const result = await handle.result();

  expect(result).toMatchObject({ outcome: 'done', text: 'The end.', turns: 8, runId: handle.firstExecutionRunId });
  expect(setting.agreement.compared()).toBe(8);
  expect(setting.agreement.disagreements()).toEqual([]);
  const view = await worker.view(workflowId);
  expect(view.messages).toEqual(messagesForModel(await conversationOf(setting)));
  expect(view.turns.map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(
    view.turns.flatMap(({ steps }) => steps.map(({ call, status, result: text }) => `${call} ${status} ${text ?? ''}`)),
  ).toEqual([1, 2, 3, 4, 5, 6, 7].flatMap((turn) => [1, 2].map((n) => `${turn}.${n} success text ${turn}.${n}`)));
  expect(view).toMatchObject({ runId: handle.firstExecutionRunId, closed: true, earlierPartGone: false });
  if (turnsPerRun === 1) await keepFixture(worker.temporal, workflowId, 'last-of-a-chain');
});

test('what the Web UI shows of a run stays when it continues as new', async () => {
  const setting = await workers.start();
  const { worker, workflowId } = setting;
  const { client } = worker.temporal;
  const input = inRunsOf(1, { model: readingScript(4, (turn) => `text ${turn}`), hostQueue: worker.queue });

  const handle = await client.workflow.start('agentWorkflow', {
    workflowId,
    taskQueue: worker.queue,
    args: [input],
    memo: { surehandInput: 'digest', surehandTask: 'Do the work.' },
  });
  await handle.result();

  const current = client.workflow.getHandle(workflowId);
  const newest = await current.describe();
  expect(newest.runId).not.toBe(handle.firstExecutionRunId);
  expect(newest.memo).toMatchObject({ surehandInput: 'digest', surehandTask: 'Do the work.' });
  const { currentDetails } = await current.query<{ readonly currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toMatch(/^\*\*done\*\* · done\n\n\*\*Task\*\* Do the work\.\n/);
  expect(currentDetails).toContain(`surehand show ${workflowId}`);
});

test('messages sent at any moment of a chain → each is taken in exactly once, also when sent twice', async () => {
  const allSent = createGate();
  const readLast: TestTool = async () => {
    await allSent.opened;
    return success('the last');
  };
  const setting = await workers.start({ readLast });
  const { worker, workflowId } = setting;
  const reads = Array.from({ length: 12 }, (_, index) => ({
    calls: [{ name: 'read', input: { text: `text ${index}` } }],
  }));
  const model = scripted([
    ...reads,
    { calls: [{ name: 'readLast', input: {} }] },
    { text: 'The end.' },
    { text: 'Read.' },
  ]);
  const handle = await worker.start(inRunsOf(1, { model }), workflowId);
  const { client } = worker.temporal;
  const current = client.workflow.getHandle(workflowId);

  for (let n = 1; n <= 6; n += 1) {
    const message = envelope(`m${n}`, `message ${n}.`, n);
    const answer = await current.executeUpdate(SEND_UPDATE, { args: [message], updateId: message.id });
    expect(answer).toMatchObject({ status: 'queued' });
    await current.signal(INBOX_SIGNAL, message);
  }
  allSent.open();
  await handle.result();

  const view = await worker.view(workflowId);
  const whole = textOf(view.messages);
  for (let n = 1; n <= 6; n += 1) expect(whole.split(`message ${n}.`)).toHaveLength(2);
  expect(view.unread).toEqual([]);
  expect(view.turns.flatMap(({ said }) => said.map(({ text }) => text))).toHaveLength(6);
  expect(setting.agreement.disagreements()).toEqual([]);
  expect((await runsOf(setting)).length).toBeGreaterThan(5);
});

test('a cancellation requested just before the run would continue → it ends as cancelled', async () => {
  const running = createGate();
  const setting = await workers.start({
    // Too late to be stopped: it ends well, and what follows is a quiet point.
    readDeaf: (_call, { signal }) =>
      new Promise((resolve) => {
        running.open();
        signal.addEventListener('abort', () => resolve(success('done all the same')), { once: true });
      }),
  });
  const { worker, workflowId } = setting;
  const model = scripted([
    { calls: [{ name: 'read', input: {} }] },
    { calls: [{ name: 'readDeaf', input: {} }] },
    { text: 'never' },
  ]);
  const handle = await worker.start(inRunsOf(1, { model }), workflowId);
  await running.opened;

  await worker.temporal.client.workflow.getHandle(workflowId).cancel();
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });

  const view = await worker.view(workflowId);
  expect(view.result).toMatchObject({ outcome: 'cancelled', turns: 2 });
  expect(textOf(view.messages[view.messages.length - 1])).toContain('done all the same');
});

test('limits and usage count over the whole chain, and its time limit does not begin anew', async () => {
  const setting = await workers.start();
  const { worker, workflowId } = setting;
  const input = inRunsOf(2, { model: readingScript(40, (turn) => `text ${turn}`) });

  const handle = await worker.start(
    { ...input, limits: { ...input.limits, maxTurns: 7, maxTimeMs: 60_000 } },
    workflowId,
  );
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'limit_reached' } });

  const conversation = await conversationOf(setting);
  expect(conversation).toMatchObject({ turn: 7, firstRunId: handle.firstExecutionRunId });
  expect(conversation.deadlineAt).toBe(conversation.startedAt + 60_000);
});
