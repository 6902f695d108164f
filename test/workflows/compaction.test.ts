import { randomUUID } from 'node:crypto';
import type { Host } from '../../src/activities/host';
import { CONVERSATION_QUERY } from '../../src/contract/names';
import type { Message } from '../../src/contract/message';
import type { ModelChoice, RunLimits } from '../../src/contract/run-input';
import type { Conversation } from '../../src/conversation/conversation';
import type { ModelRequest } from '../../src/model/port';
import { compareAtEachCall, type Agreement } from '../support/agreement';
import { keepFixture } from '../support/replay-fixtures';
import { runInput } from '../support/run-input';
import { readingScript, scripted } from '../support/scripts';
import { startTestWorker, type TestWorker } from '../support/test-worker';

const open: TestWorker[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((worker) => worker.stop()));
});

interface Setting {
  readonly worker: TestWorker;
  readonly workflowId: string;
  readonly agreement: Agreement;
  /** All requests, those for summaries too. */
  readonly requests: ModelRequest[];
}

async function setUp(cacheBytes?: number): Promise<Setting> {
  const workflowId = `compact-${randomUUID()}`;
  const agreement = compareAtEachCall(() => worker.temporal, workflowId);
  const requests: ModelRequest[] = [];
  const models: Host['models'] = (choice) => ({
    respond: (request, options) => {
      requests.push(request);
      return agreement.models(choice).respond(request, options);
    },
  });
  const worker = await startTestWorker({ host: { models }, ...(cacheBytes === undefined ? {} : { cacheBytes }) });
  open.push(worker);
  return { worker, workflowId, agreement, requests };
}

async function start({ worker, workflowId }: Setting, model: ModelChoice, limits: Partial<RunLimits>) {
  const input = runInput({ model, task: 'The task, word for word.' });
  return worker.start({ ...input, limits: { ...input.limits, ...limits } }, workflowId);
}

function conversationOf({ worker, workflowId }: Setting): Promise<Conversation> {
  return worker.temporal.client.workflow.getHandle(workflowId).query<Conversation>(CONVERSATION_QUERY);
}

function textOf(messages: readonly Message[] | undefined): string {
  return JSON.stringify(messages);
}

const summaries = Array.from({ length: 20 }, (_, index) => `Summary ${index + 1}.`);
/** Each turn brings about 250 tokens. */
const longText = (turn: number, n: number): string => `text ${turn}.${n} `.padEnd(400, 'x');

test.each([
  ['in one run', undefined, undefined],
  ['over a chain of runs, without the window cache', 5, 0],
])(
  'a window that fills %s → summaries make room, history and workflow agree, people see it whole',
  async (_, turnsPerRun, cacheBytes) => {
    const setting = await setUp(cacheBytes);
    const limits = { contextTokens: 2_500, ...(turnsPerRun === undefined ? {} : { turnsPerRun }) };

    const handle = await start(setting, readingScript(18, longText, summaries), limits);
    const result = await handle.result();

    expect(result).toMatchObject({ outcome: 'done', turns: 18, text: 'The end.' });
    expect(setting.agreement.compared()).toBe(18);
    expect(setting.agreement.disagreements()).toEqual([]);
    const { compactions } = await conversationOf(setting);
    expect(compactions.count).toBeGreaterThanOrEqual(2);
    for (const { messages } of setting.requests) expect(textOf(messages)).toContain('The task, word for word.');
    const last = setting.requests[setting.requests.length - 1];
    expect(textOf(last?.messages)).toContain(`Summary ${compactions.count}.`);
    expect(textOf(last?.messages)).not.toContain('text 1.1');
    const view = await setting.worker.view(setting.workflowId);
    expect(view.turns).toHaveLength(18);
    for (let turn = 1; turn < 18; turn += 1) expect(textOf(view.messages).split(`text ${turn}.1 `)).toHaveLength(2 + 1);
    // Each text stands in its call and in its result.
    expect(view.messages.map(({ role }) => role)).toEqual(
      view.messages.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
    );
    if (turnsPerRun === undefined) await keepFixture(setting.worker.temporal, setting.workflowId, 'compaction');
  },
);

test('the endpoint says that the window does not fit → one summary, and the same turn again', async () => {
  const setting = await setUp();
  const read = (text: string) => ({ calls: [{ name: 'read', input: { text } }] });
  const tooLong = {
    status: 400,
    type: 'invalid_request_error',
    message: 'prompt is too long: 210000 tokens > 200000 maximum',
  };
  const model = scripted(
    [read('a'.repeat(900)), read('b'.repeat(900)), read('c'), { error: tooLong }, { text: 'Done.' }],
    ['Short.'],
  );

  const handle = await start(setting, model, {});

  expect(await handle.result()).toMatchObject({ outcome: 'done', text: 'Done.', turns: 4 });
  expect(setting.agreement.disagreements()).toEqual([]);
  expect(textOf(setting.requests[setting.requests.length - 1]?.messages)).toContain('Short.');
});

test.each([
  ['empty', ['  ', ' ', ' ']],
  ['longer than what it replaces', Array.from({ length: 3 }, () => 'y'.repeat(5_000))],
])('summaries that are %s → two tries, then context_exhausted; nothing is asked after it', async (_, unhelpful) => {
  const setting = await setUp();
  const model = readingScript(12, longText, unhelpful);

  const handle = await start(setting, model, { contextTokens: 2_500 });
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'context_exhausted' } });

  const view = await setting.worker.view(setting.workflowId);
  expect(view.result).toMatchObject({ outcome: 'context_exhausted', error: { class: 'context_window' } });
  expect(setting.requests.filter(({ summary }) => summary !== undefined)).toHaveLength(2);
  expect(setting.requests[setting.requests.length - 1]?.summary).toBe(2);
  // What the summaries cost is counted.
  const { usage } = await conversationOf(setting);
  expect(usage['test']?.input).toBeGreaterThan(view.turns.reduce((sum, turn) => sum + (turn.usage?.input ?? 0), 0));
});

test('the same call with the same result → the model is told at the third, the run ends at the fifth', async () => {
  const setting = await setUp();
  const model = scripted(Array.from({ length: 9 }, () => ({ calls: [{ name: 'read', input: { text: 'x' } }] })));

  const handle = await start(setting, model, {});
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'limit_reached' } });

  const view = await setting.worker.view(setting.workflowId);
  expect(view.result).toMatchObject({ outcome: 'limit_reached', turns: 5, error: { class: 'no_progress' } });
  expect(textOf(setting.requests[2]?.messages)).not.toContain('three times in a row');
  expect(textOf(setting.requests[3]?.messages)).toContain('three times in a row');
  expect(setting.agreement.disagreements()).toEqual([]);
});

test('an answer cut inside a call → more room once, and the call is not run; cut again → told to split', async () => {
  const setting = await setUp();
  const cut = { calls: [{ name: 'write', input: { text: 'half' } }], stop: 'max_tokens' };
  const model = scripted([cut, cut, { text: 'Done.' }]);

  const handle = await start(setting, model, { maxOutputTokens: 1_000, maxOutputRaised: 3_000 });

  expect(await handle.result()).toMatchObject({ outcome: 'done', turns: 3 });
  expect(setting.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([1_000, 3_000, 1_000]);
  expect(textOf(setting.requests[1]?.messages)).toContain('Make the call again; there is room for more now.');
  expect(textOf(setting.requests[2]?.messages)).toContain('split large inputs into several smaller calls');
  const view = await setting.worker.view(setting.workflowId);
  expect(view.turns.flatMap(({ steps }) => steps.map(({ status }) => status))).toEqual(['failed', 'failed']);
});
