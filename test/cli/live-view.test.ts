import { createLiveView, statusLine } from '../../src/cli/live-view';
import type { Pending } from '../../src/cli/pending';
import { fakeIo } from './support/fake-io';
import { runView, step, turn } from './support/views';

const pending = (activities: Pending['activities']): Pending => ({
  workflowId: 'w',
  runId: 'r',
  open: true,
  taskQueue: 'q',
  activities,
});

test('live view: each text and each ended step is printed once, in the order of their end', () => {
  const io = fakeIo();
  const live = createLiveView(io);
  const steps = [step({ call: '1.1', status: 'running' }), step({ call: '1.2', tool: 'grep', summary: 'x' })];
  live.update(runView([turn({ text: 'I look.', steps })]));
  live.update(runView([turn({ text: 'I look.', steps: [step({ call: '1.1' }), steps[1]!] })]));
  live.update(runView([turn({ text: 'I look.', steps: [step({ call: '1.1' }), steps[1]!] })]));
  expect(io.said).toEqual(['● I look.', '  ✓ 1.2  grep       x · 1.2 s', '  ✓ 1.1  bash       npm test · 1.2 s']);
});

test('live view: the last words are the answer, which belongs to stdout', () => {
  const io = fakeIo();
  const live = createLiveView(io);
  live.update(runView([turn({ text: 'All is well.' })]));
  expect(io.said).toEqual([]);
  live.update(runView([turn({ text: 'All is well.' }), turn({ turn: 2, status: 'running' })]));
  expect(io.said).toEqual(['● All is well.']);
});

test('live view: a failed step says why; a command by its exit code', () => {
  const io = fakeIo();
  createLiveView(io).update(
    runView([
      turn({
        steps: [
          step({ call: '1.1', tool: 'edit_file', summary: 'a.js', status: 'failed', result: 'not found\nhint' }),
          step({ call: '1.2', status: 'failed', result: 'line 1\nfail 3\n', details: { exitCode: 2 } }),
        ],
      }),
    ]),
  );
  expect(io.said.map((line) => line.trim())).toEqual([
    '✗ 1.1  edit_file  a.js · 1.2 s',
    'not found',
    '✗ 1.2  bash       npm test · 1.2 s · exit 2',
  ]);
});

test('live view: what people said and hostile text come out visible', () => {
  const io = fakeIo();
  createLiveView(io).update(
    runView([turn({ said: [{ by: 'ann@box', text: 'stop \u001b[2J' }], text: 'no\u001b]0;x', steps: [step()] })]),
  );
  expect(io.said.slice(0, 2)).toEqual(['ann@box: stop ^[[2J', '● no^[]0;x']);
});

test('live view: each new try is said once, with its reason and when it comes', () => {
  const io = fakeIo();
  const live = createLiveView(io, { now: () => 10_000 });
  const retry = { activityId: 'model-2', started: false, attempt: 3, scheduledAt: 22_000, lastFailure: 'overloaded' };
  live.progress(pending([retry]));
  live.progress(pending([retry]));
  live.progress(pending([{ ...retry, attempt: 4, started: true }]));
  expect(io.said).toEqual(['  ! turn 2: overloaded · try 3 in 12.0 s', '  ! turn 2: overloaded · try 4 now']);
});

test.each([
  ['no turn yet', runView([]), '⋯ preparing the workspace'],
  ['the model at work', runView([turn({ status: 'running' })]), '⋯ turn 1: the model works · 2.0 s'],
  ['a command', runView([turn({ steps: [step({ status: 'running' })] })]), '⋯ 1.1 bash npm test · 2.0 s · half done'],
  [
    'several at once',
    runView([turn({ steps: [step({ status: 'running' }), step({ call: '1.2', tool: 'grep', status: 'running' })] })]),
    '⋯ 1.1 bash, 1.2 grep',
  ],
])('status line: %s', (_name, view, line) => {
  const progress = { attempt: 1, tail: 'first\nhalf done\n', bytes: 16 };
  const activity = { activityId: 'tool-1.1', started: true, attempt: 1, scheduledAt: 0, progress };
  expect(statusLine(view, pending([activity]), 3_000)).toBe(line);
});

test('live view: a model that is tried again → why, when, and when it gives up; the last line counts down', () => {
  const io = fakeIo();
  const live = createLiveView(io, { now: () => 10_000 });
  const portFailure = {
    class: 'overloaded',
    retryable: true,
    detail: 'api.test is overloaded (HTTP 529).',
    nextTry: { number: 3, at: 22_000, givesUpAt: 1_330_000 },
  } as const;
  const lastFailure = `overloaded, 3rd try in 12 s, gives up in 22 min: ${portFailure.detail}`;
  const waiting = { activityId: 'model-1', started: false, attempt: 3, scheduledAt: 22_000, lastFailure, portFailure };
  live.progress(pending([waiting]));
  live.progress(pending([{ ...waiting, started: true }]));
  expect(io.said).toEqual([
    '  ! turn 1: overloaded, 3rd try in 12 s, gives up in 22 min · api.test is overloaded (HTTP 529).',
  ]);
  const view = runView([turn({ status: 'running' })]);
  expect(statusLine(view, pending([waiting]), 15_000)).toBe('⋯ turn 1: overloaded, 3rd try in 7 s, gives up in 22 min');
});

test('live view: what the model writes stands above the last line, from where a terminal comes in; its end removes it', () => {
  const io = fakeIo({ isTerminal: true });
  const live = createLiveView(io, { now: () => 3_000 });
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
  const tail = `${lines.join('\n')}\n${'x'.repeat(120)}${'漢'.repeat(60)}\u001b[2J`;
  const writing = { activityId: 'model-1', started: true, attempt: 1, scheduledAt: 0 };
  live.update(runView([turn({ status: 'running' })]));
  live.progress(pending([{ ...writing, progress: { attempt: 1, tail, bytes: tail.length } }]));
  expect(io.statuses.at(-1)?.split('\n')).toEqual(
    [
      '  line 8',
      '  line 9',
      '  line 10',
      '  line 11',
      '  line 12',
      `  ${'x'.repeat(97)}`,
      `  ${'x'.repeat(23)}${'漢'.repeat(37)}`,
      `  ${'漢'.repeat(23)}^[[2J`,
      '⋯ turn 1: the model works · 2.0 s',
    ].slice(-9),
  );
  live.update(runView([turn({ text: 'Done.', status: 'done' })], { closed: true }));
  expect(io.statuses.at(-1)).toBeUndefined();
});

test('status line: a closed run has none', () => {
  expect(statusLine(runView([], { closed: true }), undefined, 0)).toBeUndefined();
});
