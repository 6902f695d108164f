import { randomUUID } from 'node:crypto';
import type { RunStatus } from '../../src/contract/status';
import { historyPages } from '../../src/temporal/history';
import { createGate } from '../support/gate';
import { startTestWorker, type TestWorker } from '../support/test-worker';
import { runInput } from '../support/run-input';
import { scripted } from '../support/scripts';
import { success, testToolbox, type TestTool } from '../support/test-toolbox';
import { waitFor } from '../support/wait-for';

let worker: TestWorker;

/** The Web UI's lines for the steps of a run. */
async function summariesOf(workflowId: string): Promise<string[]> {
  const summaries: string[] = [];
  for await (const { events } of historyPages(worker.temporal.client, { workflowId })) {
    for (const { userMetadata } of events) summaries.push(Buffer.from(userMetadata?.summary?.data ?? '').toString());
  }
  return summaries;
}

beforeAll(async () => {
  worker = await startTestWorker();
});

afterAll(async () => {
  await worker.stop();
});

test('a task with two reads and a change → results in call order, done with the last text', async () => {
  const model = scripted([
    {
      text: 'Looking.',
      calls: [
        { name: 'read', input: { text: 'one' } },
        { name: 'read', input: { text: 'two' } },
        { name: 'write', input: { text: 'three' } },
      ],
    },
    { text: 'All done.', expect: { lastResults: ['one', 'two', 'three'] } },
  ]);
  const handle = await worker.start(runInput({ model }));

  const result = await handle.result();

  expect(result).toMatchObject({ outcome: 'done', text: 'All done.', turns: 2, isError: false, error: null });
  const view = await worker.view(handle.workflowId);
  expect(view.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(view.turns[0]?.steps.map(({ call, status, result: text }) => [call, status, text])).toEqual([
    ['1.1', 'success', 'one'],
    ['1.2', 'success', 'two'],
    ['1.3', 'success', 'three'],
  ]);
});

test('more calls in one message than are run → each has a result, those beyond say so', async () => {
  const calls = Array.from({ length: 102 }, (_, index) => ({ name: 'read', input: { text: `r${String(index + 1)}` } }));
  const handle = await worker.start(runInput({ model: scripted([{ calls }, { text: 'Done.' }]) }));

  await expect(handle.result()).resolves.toMatchObject({ outcome: 'done' });

  const { turns } = await worker.view(handle.workflowId);
  const results = turns[0]?.steps.map(({ result }) => result) ?? [];
  expect(results.slice(0, 100)).toEqual(calls.slice(0, 100).map(({ input }) => input.text));
  expect(results.slice(100)).toEqual(Array(2).fill(expect.stringContaining('at most 100 calls')));
});

test('a denied call that no success follows → outcome denied, the refusal is listed', async () => {
  const model = scripted([{ calls: [{ name: 'denyIt', input: { what: 'x' } }] }, { text: 'I could not do it.' }]);
  const denied = await startTestWorker({ toolbox: testToolbox({ denyIt: () => success('never') }) });

  const handle = await denied.start(runInput({ model }));
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'denied' } });

  const { result } = await denied.view(handle.workflowId);
  expect(result).toMatchObject({
    outcome: 'denied',
    isError: true,
    text: 'I could not do it.',
    denials: [{ call: '1.1', tool: 'denyIt', summary: '{"what":"x"}', reason: 'by the test' }],
  });
  await denied.stop();
});

test('the time limit runs out while a tool runs → limit_reached, the tool is stopped, the transcript is whole', async () => {
  const hanging: TestTool = (_call, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  const slow = await startTestWorker({ toolbox: testToolbox({ readHangs: hanging }) });
  const model = scripted([{ calls: [{ name: 'readHangs', input: {} }] }, { text: 'never' }]);
  const limits = { ...runInput().limits, maxTimeMs: 1_500 };

  const handle = await slow.start(runInput({ model, limits }));
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'limit_reached' } });

  const view = await slow.view(handle.workflowId);
  expect(view.result).toMatchObject({ error: { class: 'max_time' } });
  expect(view.turns[0]?.steps[0]).toMatchObject({ status: 'interrupted' });
  expect(view.messages[view.messages.length - 1]?.content).toHaveLength(1);
  await slow.stop();
});

test('no worker serves the host → the run waits visibly, and ends as unavailable when its patience is over', async () => {
  const { client } = worker.temporal;
  const limits = { ...runInput().limits, hostWaitMs: 3_000 };
  const timeouts = { ...runInput().timeouts, scheduleToStartMs: 500, hostWaitMaxMs: 1_000 };
  const input = { ...runInput({ limits, timeouts }), hostQueue: `nobody-${randomUUID()}` };
  const workflowId = `away-${randomUUID()}`;
  const options = { workflowId, taskQueue: worker.queue, args: [input] };

  const handle = await client.workflow.start('agentWorkflow', options);
  await waitFor('the run to say that it waits', async () => {
    const { state } = await handle.query<RunStatus>('status');
    return state === 'waiting-for-host';
  });
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'unavailable' } });

  expect((await worker.view(workflowId)).result).toMatchObject({ error: { class: 'host_unavailable' } });
}, 30_000);

test('the host goes away in mid-run for ten hours of rounds → the run waits, says so, and goes on by itself', async () => {
  const { client } = worker.temporal;
  const hostQueue = `host-${randomUUID()}`;
  const limits = { ...runInput().limits, hostWaitMs: 600_000 };
  // A minute, doubled up to an hour, as 20 ms up to 200 ms: ten hours are fifteen rounds.
  const timeouts = { ...runInput().timeouts, scheduleToStartMs: 20, hostWaitMaxMs: 200 };
  const model = scripted([{ calls: [{ name: 'readLast', input: {} }] }, { text: 'Back.' }]);
  const input = { ...runInput({ limits, timeouts, model }), hostQueue };
  const running = createGate();
  const readLast: TestTool = async () => {
    running.open();
    await leaving.opened;
    return success('the last before it went');
  };
  const leaving = createGate();
  const before = await startTestWorker({ queue: hostQueue, toolbox: testToolbox({ readLast }) });
  const workflowId = `away-${randomUUID()}`;
  const handle = await client.workflow.start('agentWorkflow', { workflowId, taskQueue: worker.queue, args: [input] });
  await running.opened;

  const gone = before.stop();
  leaving.open();
  await gone;
  await waitFor('the fifteenth round', async () => {
    const { state, doing } = await handle.query<RunStatus>('status');
    expect([state, doing]).toEqual([
      'waiting-for-host',
      expect.stringContaining('start one there with `surehand worker`'),
    ]);
    return (await summariesOf(workflowId)).includes('"2 · model test (waiting for host, 15th)"');
  });
  const back = await startTestWorker({ queue: hostQueue });
  await expect(handle.result()).resolves.toMatchObject({ outcome: 'done', text: 'Back.', turns: 2 });
  await back.stop();

  expect((await worker.view(workflowId)).turns[0]?.steps[0]).toMatchObject({ result: 'the last before it went' });
}, 30_000);

test('a model call that fails for good → the outcome of its class, with the sentence of the failure', async () => {
  const model = scripted([{ error: { status: 401, type: 'authentication_error', times: 1 } }, { text: 'never' }]);

  const handle = await worker.start(runInput({ model }));
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'unauthenticated' } });

  const { result } = await worker.view(handle.workflowId);
  expect(result).toMatchObject({ outcome: 'unauthenticated', turns: 0, error: { class: 'unauthenticated' } });
});

test('an endpoint that is overloaded twice → tried again, and the run goes on', async () => {
  const model = scripted([{ error: { status: 529, type: 'overloaded_error', times: 2 } }, { text: 'At last.' }]);

  const handle = await worker.start(runInput({ model }));

  await expect(handle.result()).resolves.toMatchObject({ outcome: 'done', text: 'At last.', turns: 1 });
});

test('an endpoint that reuses a call id, or gives odd ones → each call runs with its own input, ids are unique', async () => {
  const read = (text: string, id: string) => ({ id, name: 'read', input: { text } });
  const model = scripted([
    { calls: [read('a', 't1'), read('b', 't1'), read('c', 'a b/ç')] },
    { calls: [read('d', 't1'), read('e', 'x'.repeat(200))] },
    { text: 'Done.', expect: { lastResults: ['d', 'e'] } },
  ]);

  const handle = await worker.start(runInput({ model }));
  await handle.result();

  const { turns, messages } = await worker.view(handle.workflowId);
  expect(turns.flatMap(({ steps }) => steps.map(({ result }) => result))).toEqual(['a', 'b', 'c', 'd', 'e']);
  const ids = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
  );
  expect(new Set(ids).size).toBe(5);
  expect(ids.filter((id) => !/^[A-Za-z0-9_-]{1,64}$/.test(id))).toEqual([]);
});

test('the model writes a plan → the page of the run shows it, the newest alone', async () => {
  const plan = (status: string) => ({
    calls: [
      {
        name: 'todo_write',
        input: {
          todos: [
            { text: 'look', status },
            { text: 'change', status: 'pending' },
          ],
        },
      },
    ],
  });
  const todoWrite: TestTool = () => success('Noted.');
  const planning = await startTestWorker({ toolbox: testToolbox({ todo_write: todoWrite }) });
  const model = scripted([plan('in_progress'), plan('completed'), { text: 'Done.' }]);

  const handle = await planning.start(runInput({ model }));
  await handle.result();

  const { currentDetails } = await handle.query<{ readonly currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toBe('**done** · done\n\n- [x] look\n- [ ] change');
  expect((await planning.view(handle.workflowId)).todos).toEqual([
    { text: 'look', status: 'completed' },
    { text: 'change', status: 'pending' },
  ]);
  await planning.stop();
});
