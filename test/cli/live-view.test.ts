import { createLiveView, statusLine } from '../../src/cli/live-view';
import type { Pending } from '../../src/cli/pending';
import { fakeIo } from './support/fake-io';
import { runView, step, turn } from './support/views';

const pending = (activities: Pending['activities']): Pending => ({
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
  const live = createLiveView(io, () => 10_000);
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

test('status line: a closed run has none', () => {
  expect(statusLine(runView([], { closed: true }), undefined, 0)).toBeUndefined();
});
