import { randomUUID } from 'node:crypto';
import type { Envelope } from '../../src/contract/envelope';
import { CONVERSATION_QUERY, INBOX_SIGNAL, SEND_UPDATE } from '../../src/contract/names';
import type { Message } from '../../src/contract/message';
import type { Conversation } from '../../src/conversation/conversation';
import { messagesForModel } from '../../src/conversation/record';
import { compareAtEachCall, type Agreement } from '../support/agreement';
import { createAgreeingWorkers } from '../support/agreeing-worker';
import { createGate } from '../support/gate';
import { keepFixture } from '../support/replay-fixtures';
import { runInput } from '../support/run-input';
import { readingScript, scripted } from '../support/scripts';
import { startTestWorker, type TestWorker } from '../support/test-worker';
import { success, testToolbox, type TestTool } from '../support/test-toolbox';

const workers = createAgreeingWorkers('agree');

afterEach(() => workers.stop());

/** What the closed workflow itself would have asked next, against what readers make of its history. */
async function expectSameEnd(worker: TestWorker, workflowId: string): Promise<void> {
  const conversation = await worker.temporal.client.workflow
    .getHandle(workflowId)
    .query<Conversation>(CONVERSATION_QUERY);
  const view = await worker.view(workflowId);
  expect(view.messages).toEqual(messagesForModel(conversation));
}

function envelope(id: string, text: string, at: number): Envelope {
  return { id, at, kind: 'message', body: { text }, by: 'test' };
}

function texts(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }) =>
    (content as readonly { type: string; text?: string; content?: string }[]).map(
      ({ type, text, content: result }) => `${type}:${text ?? result ?? ''}`,
    ),
  );
}

test.each([
  ['with the cache', undefined],
  ['without the cache', 0],
])('parallel reads and a failing tool, %s → history and workflow agree at each model call', async (_, cacheBytes) => {
  const failing: TestTool = () => ({ status: 'failed', message: 'it broke', durationMs: 1 });
  const setting = await workers.start({ readFails: failing }, cacheBytes);
  const model = scripted([
    {
      text: 'a',
      calls: [
        { name: 'read', input: { text: 'one' } },
        { name: 'readFails', input: {} },
        { name: 'read', input: { text: 'two' } },
      ],
    },
    {
      calls: [
        { name: 'write', input: { text: 'w' } },
        { name: 'denyIt', input: {} },
        { name: 'unknown', input: {} },
      ],
    },
    { text: 'end' },
  ]);

  const handle = await setting.worker.start(runInput({ model }), setting.workflowId);
  await handle.result();

  expect(setting.agreement.compared()).toBe(3);
  expect(setting.agreement.disagreements()).toEqual([]);
  await expectSameEnd(setting.worker, setting.workflowId);
  if (cacheBytes === undefined) await keepFixture(setting.worker.temporal, setting.workflowId, 'parallel-reads');
});

test('messages by update and by signal while it works → taken in once, sorted, at the next turn, and agree', async () => {
  const blocked = createGate();
  const running = createGate();
  const slow: TestTool = async () => {
    running.open();
    await blocked.opened;
    return success('slow done');
  };
  const setting = await workers.start({ readSlow: slow });
  const model = scripted([
    {
      calls: [
        { name: 'readSlow', input: {} },
        { name: 'write', input: { text: 'after' } },
      ],
    },
    { text: 'end' },
  ]);
  const handle = await setting.worker.start(runInput({ model }), setting.workflowId);
  await running.opened;

  const answer = await handle.executeUpdate(SEND_UPDATE, { args: [envelope('m2', 'second', 2)], updateId: 'm2' });
  await handle.signal(INBOX_SIGNAL, envelope('m1', 'first', 1));
  await handle.signal(INBOX_SIGNAL, envelope('m2', 'second', 2));
  blocked.open();
  await handle.result();

  expect(answer).toMatchObject({ status: 'queued', place: 1 });
  const view = await setting.worker.view(setting.workflowId);
  expect(texts(view.messages)).toEqual([
    'text:Do the work.',
    'tool_use:',
    'tool_use:',
    'tool_result:slow done',
    'tool_result:after',
    'text:first',
    'text:second',
    'text:end',
  ]);
  expect(setting.agreement.disagreements()).toEqual([]);
  await expectSameEnd(setting.worker, setting.workflowId);
  await keepFixture(setting.worker.temporal, setting.workflowId, 'messages');
});

test('cancel in the middle of parallel reads → each call has a result, cancelled within seconds, result in the memo', async () => {
  const running = createGate();
  const hanging: TestTool = (_call, { signal }) =>
    new Promise((_resolve, reject) => {
      running.open();
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  const setting = await workers.start({ readHangs: hanging });
  const model = scripted([
    {
      calls: [
        { name: 'read', input: { text: 'quick' } },
        { name: 'readHangs', input: {} },
        { name: 'write', input: { text: 'never' } },
      ],
    },
    { text: 'never' },
  ]);
  const handle = await setting.worker.start(runInput({ model }), setting.workflowId);
  await running.opened;
  const cancelledAt = Date.now();

  await handle.cancel();
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });

  expect(Date.now() - cancelledAt).toBeLessThan(10_000);
  const view = await setting.worker.view(setting.workflowId);
  expect(view.result).toMatchObject({ outcome: 'cancelled', turns: 1, error: { class: 'cancelled' } });
  expect(view.turns[0]?.steps.map(({ status }) => status)).toEqual(['success', 'interrupted', 'failed']);
  const last = view.messages[view.messages.length - 1];
  expect(last?.content).toHaveLength(3);
  expect(JSON.stringify(last)).toContain('Interrupted: the run was stopped while this call was running.');
  expect(JSON.stringify(last)).toContain('Not run: the run was stopped before this call.');
  await expectSameEnd(setting.worker, setting.workflowId);
  await keepFixture(setting.worker.temporal, setting.workflowId, 'cancel-in-reads');
});

test('reset to the middle → the new run goes on from there, and agrees at each later call', async () => {
  const setting = await workers.start();
  const model = readingScript(6, (turn, n) => `text ${String(turn)}.${String(n)}`);
  const { worker, workflowId } = setting;
  const handle = await worker.start(runInput({ model }), workflowId);
  await handle.result();
  const history = await handle.fetchHistory();
  const completed = (history.events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const middle = completed[Math.floor(completed.length / 2)];
  const { runId } = await handle.describe();
  const before = setting.agreement.compared();

  await worker.temporal.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId, runId },
    reason: 'test',
    requestId: randomUUID(),
    ...(middle?.eventId ? { workflowTaskFinishEventId: middle.eventId } : {}),
  });
  const result = await worker.temporal.client.workflow.getHandle(workflowId).result();

  expect(result).toMatchObject({ outcome: 'done', text: 'The end.', turns: 6 });
  expect(setting.agreement.compared()).toBeGreaterThan(before);
  expect(setting.agreement.disagreements()).toEqual([]);
  await expectSameEnd(setting.worker, setting.workflowId);
  await keepFixture(worker.temporal, workflowId, 'reset');
});

test('another worker takes over with a cold cache → the window read from history agrees', async () => {
  const workflowId = `agree-${randomUUID()}`;
  const queue = `test-${randomUUID()}`;
  const running = createGate();
  const readSlow: TestTool = async () => {
    running.open();
    await new Promise((resolve) => setTimeout(resolve, 500));
    return success('ok');
  };
  const agreements: Agreement[] = [];
  const startWorker = async (): Promise<TestWorker> => {
    const agreement = compareAtEachCall(() => worker.temporal, workflowId);
    agreements.push(agreement);
    const toolbox = testToolbox({ readSlow });
    const worker: TestWorker = await startTestWorker({ queue, toolbox, host: { models: agreement.models } });
    return worker;
  };
  const model = scripted([
    { calls: [{ name: 'read', input: { text: 'x' } }] },
    { calls: [{ name: 'readSlow', input: {} }] },
    { calls: [{ name: 'read', input: { text: 'y' } }] },
    { text: 'end' },
  ]);
  const first = await startWorker();
  await first.start(runInput({ model }), workflowId);
  await running.opened;
  await first.stop();
  const second = await startWorker();

  const result = await second.temporal.client.workflow.getHandle(workflowId).result();

  expect(result).toMatchObject({ outcome: 'done', turns: 4 });
  expect(agreements.map((agreement) => agreement.compared())).toEqual([2, 2]);
  expect(agreements.flatMap((agreement) => agreement.disagreements())).toEqual([]);
  await expectSameEnd(second, workflowId);
  await keepFixture(second.temporal, workflowId, 'cold-cache');
  await second.stop();
});
