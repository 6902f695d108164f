import { startTestWorker, type TestWorker } from '../support/test-worker';
import { runInput } from '../support/run-input';

let worker: TestWorker;

beforeAll(async () => {
  worker = await startTestWorker();
});

afterAll(async () => {
  await worker.stop();
});

function scripted(script: string) {
  return { provider: 'scripted', model: 'test', endpoint: 'default', script } as const;
}

test('a task with two reads and a change → results in call order, done with the last text', async () => {
  const model = scripted(`
turns:
  - text: Looking.
    calls:
      - { name: read, input: { text: one } }
      - { name: read, input: { text: two } }
      - { name: write, input: { text: three } }
  - text: All done.
    expect: { lastResults: [one, two, three] }
`);
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
