import { exitCodeOf, resultOf, soFar } from '../../src/cli/result';
import { createEventSource } from '../../src/cli/stream-events';
import { resultDocument, runView, step, turn } from './support/views';

test.each([
  ['done', 0],
  ['failed', 1],
  ['unauthenticated', 3],
  ['denied', 4],
  ['limit_reached', 5],
  ['unavailable', 6],
  ['context_exhausted', 7],
  ['cancelled', 130],
] as const)('exit code of %s is %d', (outcome, code) => {
  expect(exitCodeOf(resultDocument({ outcome }))).toBe(code);
});

test('resultOf: the document that the run wrote', () => {
  const result = resultDocument();
  expect(resultOf(runView([], { closed: true, result }))).toBe(result);
});

test('resultOf: a terminated run wrote none → failed, with what history shows', () => {
  const usage = { input: 10, output: 2, cacheRead: 3, cacheWrite: 0 };
  const steps = [step({ details: { filesChanged: ['a.js'] } }), step({ call: '1.2', status: 'denied', result: 'no' })];
  const view = runView([turn({ usage, text: 'half', steps })], { closed: true, closeStatus: 'terminated' });
  expect(resultOf(view)).toMatchObject({
    outcome: 'failed',
    isError: true,
    error: { class: 'internal', message: 'the run was ended from outside (terminated)', retryable: false },
    text: 'half',
    textBytes: 4,
    turns: 1,
    usage: { demo: usage },
    filesChanged: ['a.js'],
    denials: [{ call: '1.2', tool: 'bash', summary: 'npm test', reason: 'no' }],
  });
});

test('soFar: a turn that is not answered yet does not count', () => {
  const view = runView([turn({ text: 'one' }), turn({ turn: 2, status: 'running' })]);
  expect(soFar(view)).toMatchObject({ turns: 1, text: 'one', durationMs: 500 });
});

test('stream events: each thing once, steps when they end', () => {
  const events = createEventSource();
  const running = turn({ said: [{ by: 'ann', text: 'hi' }], text: 'I look.', steps: [step({ status: 'running' })] });
  expect(events(runView([running]))).toEqual([
    { type: 'message', turn: 1, by: 'ann', text: 'hi' },
    { type: 'text', turn: 1, text: 'I look.' },
  ]);
  expect(events(runView([{ ...running, steps: [step()] }]))).toEqual([
    { type: 'step', call: '1.1', tool: 'bash', summary: 'npm test', status: 'success', durationMs: 1234, result: 'ok' },
  ]);
  expect(events(runView([{ ...running, steps: [step()] }]))).toEqual([]);
});
