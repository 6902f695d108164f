import type { AddedRef, CallModelInput, PlannedCall } from '../../src/contract/activity';
import { createRunViewer } from '../../src/transcript/run-view';
import type { RunView, StepView } from '../../src/transcript/view';
import { answer, answeredConversation, envelope, toolResult } from '../support/conversation-parts';
import { createHistory, type SyntheticHistory } from '../support/history-events';
import { runInput } from '../support/run-input';

const input = runInput({ task: 'Fix it.' });
const OPENING: AddedRef[] = [{ task: true }];

function modelInput(turn: number, added: readonly AddedRef[]): CallModelInput {
  return { seq: 1, turn, after: null, added, maxOutputTokens: 4_096, triesBefore: 0 };
}

function opened(...calls: Partial<PlannedCall>[]): SyntheticHistory {
  const history = createHistory({ input });
  history.scheduled('model-1', modelInput(1, OPENING));
  history.started('model-1');
  history.completed('model-1', answer(1, { calls }));
  return history;
}

async function viewOf(...runs: SyntheticHistory[]): Promise<RunView> {
  const viewer = createRunViewer('wf', { codecs: [], sizeOf: () => 10 });
  for (const [index, { events }] of runs.entries()) await viewer.push({ runId: `run-${String(index + 1)}`, events });
  const view = viewer.view();
  if (view === undefined) throw new Error('no view');
  return view;
}

async function stepOf(history: SyntheticHistory): Promise<StepView | undefined> {
  return (await viewOf(history)).turns[0]?.steps[0];
}

test('nothing read yet → no view', () => {
  expect(createRunViewer('wf', { codecs: [] }).view()).toBeUndefined();
});

test('a run that only began → open, without turns', async () => {
  expect(await viewOf(createHistory({ input }))).toEqual({
    workflowId: 'wf',
    runId: 'run-1',
    input,
    startedAt: 1_500,
    messages: [],
    turns: [],
    closed: false,
    todos: [],
    received: [],
    atRest: false,
    unread: [],
    historyBytes: 10,
    historyEvents: 1,
    earlierPartGone: false,
  });
});

describe('a turn', () => {
  test('the model is asked → running', async () => {
    const history = createHistory({ input });
    history.scheduled('model-1', modelInput(1, OPENING));

    expect((await viewOf(history)).turns).toEqual([
      { turn: 1, said: [], status: 'running', text: '', startedAt: 2_500, steps: [] },
    ]);
  });

  test('answered → done, with text, usage and times', async () => {
    expect((await viewOf(opened())).turns).toEqual([
      {
        turn: 1,
        said: [],
        status: 'done',
        text: 'Turn 1.',
        content: [{ type: 'text', text: 'Turn 1.' }],
        stopReason: 'end_turn',
        usage: { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 },
        startedAt: 3_500,
        durationMs: 5,
        steps: [],
      },
    ]);
  });

  test('the model call failed → failed, with the sentence', async () => {
    const history = createHistory({ input });
    history.scheduled('model-1', modelInput(1, OPENING));
    history.failed('model-1', 'the endpoint is gone');

    expect((await viewOf(history)).turns[0]).toMatchObject({ status: 'failed', failure: 'the endpoint is gone' });
  });

  test('the run was terminated while the model was asked → failed, nothing runs on', async () => {
    const history = createHistory({ input });
    history.scheduled('model-1', modelInput(1, OPENING));
    history.runTerminated();

    expect((await viewOf(history)).turns[0]?.status).toBe('failed');
  });

  test('a person said something → who and what, in the turn that took it in', async () => {
    const history = opened();
    history.signalled(envelope('a', { by: 'anna@host' }));
    history.scheduled('model-2', modelInput(2, [{ message: 'a' }]));

    expect((await viewOf(history)).turns.map(({ said }) => said)).toEqual([
      [],
      [{ by: 'anna@host', text: 'message a' }],
    ]);
  });
});

describe('a step', () => {
  const schedule = (history: SyntheticHistory) => history.scheduled('tool-1.1', { call: '1.1', input: { path: 'a' } });
  const inline = (history: SyntheticHistory, text: string) =>
    history.scheduled('model-2', modelInput(2, [{ inline: { call: '1.1', text } }]));
  const tail = (history: SyntheticHistory, text: string) =>
    history.memo({ surehandTail: { after: 'm1', added: [{ inline: { call: '1.1', text } }] } });

  test.each<[string, Partial<PlannedCall>, ((history: SyntheticHistory) => void)[], StepView['status']]>([
    ['not scheduled yet', {}, [], 'waiting'],
    ['scheduled', {}, [schedule], 'running'],
    ['completed', {}, [schedule, (h) => h.completed('tool-1.1', toolResult('1.1'))], 'success'],
    [
      'completed with an error result',
      {},
      [schedule, (h) => h.completed('tool-1.1', toolResult('1.1', { status: 'failed' }))],
      'failed',
    ],
    [
      'completed with a wish for a confirmation',
      {},
      [schedule, (h) => h.completed('tool-1.1', toolResult('1.1', { status: 'need_confirm' }))],
      'failed',
    ],
    ['cancelled', {}, [schedule, (h) => h.cancelled('tool-1.1'), (h) => tail(h, 'Interrupted.')], 'interrupted'],
    ['lost with its worker', {}, [schedule, (h) => h.timedOut('tool-1.1'), (h) => inline(h, 'Lost.')], 'interrupted'],
    ['failed as an activity', {}, [schedule, (h) => h.failed('tool-1.1', 'x'), (h) => inline(h, 'Failed.')], 'failed'],
    ['failed as an activity a moment ago', {}, [schedule, (h) => h.failed('tool-1.1', 'x')], 'failed'],
    ['denied', { verdict: 'deny' }, [(h) => inline(h, 'Denied.')], 'denied'],
    ['asked for', { verdict: 'ask' }, [(h) => inline(h, 'Denied.')], 'denied'],
    ['of an unknown tool', { known: false, verdict: 'deny' }, [(h) => inline(h, 'Unknown.')], 'failed'],
    ['cut off by the answer’s length', {}, [(h) => inline(h, 'Not run.')], 'failed'],
    ['running when the run was terminated', {}, [schedule, (h) => h.runTerminated()], 'interrupted'],
    ['not scheduled when the run was terminated', {}, [(h) => h.runTerminated()], 'interrupted'],
    ['scheduled when the run handed on', {}, [schedule, (h) => h.continuedAsNew()], 'running'],
  ])('%s → its status', async (_title, plan, events, status) => {
    const history = opened(plan);
    for (const event of events) event(history);

    expect((await stepOf(history))?.status).toBe(status);
  });

  test('a call that ran → what it was given, what came back, when and how long', async () => {
    const history = opened({ name: 'edit_file', summary: 'a.ts' });
    schedule(history);
    history.started('tool-1.1');
    history.completed('tool-1.1', toolResult('1.1', { durationMs: 7, details: { diff: '+x' } }));

    expect(await stepOf(history)).toEqual({
      call: '1.1',
      activityId: 'tool-1.1',
      tool: 'edit_file',
      summary: 'a.ts',
      input: { path: 'a' },
      status: 'success',
      startedAt: 6_500,
      durationMs: 7,
      result: 'result 1.1',
      details: { diff: '+x' },
    });
  });

  test('a call that never ran → the input of the plan, else what the model sent; the words of its result', async () => {
    const coerced = opened({ input: { path: 'b' }, verdict: 'deny' });
    inline(coerced, 'Denied.');

    expect(await stepOf(coerced)).toMatchObject({ input: { path: 'b' }, result: 'Denied.' });
    expect((await stepOf(opened({})))?.input).toEqual({ n: 1 });
  });

  test('a plan of no block → no input', async () => {
    const history = createHistory({ input });
    history.scheduled('model-1', modelInput(1, OPENING));
    const reply = answer(1, { calls: [{}] });
    history.completed('model-1', { ...reply, message: answer(1).message });

    expect((await stepOf(history))?.input).toBeUndefined();
  });
});

describe('the end', () => {
  test('completed → the result, and how it was closed', async () => {
    const history = opened();
    history.runCompleted({ outcome: 'done' });

    expect(await viewOf(history)).toMatchObject({
      closed: true,
      closeStatus: 'completed',
      result: { outcome: 'done' },
      messages: [{ role: 'user' }, { role: 'assistant' }],
    });
  });

  test('cancelled → the result and what was never read, from the memo', async () => {
    const history = opened();
    history.memo({ surehandResult: { outcome: 'cancelled' }, surehandUnread: ['a', 'b'] });
    history.runCancelled();

    expect(await viewOf(history)).toMatchObject({
      closeStatus: 'cancelled',
      result: { outcome: 'cancelled' },
      unread: ['a', 'b'],
    });
  });

  test('failed without a memo → the result from the details of the failure', async () => {
    const history = opened();
    history.runFailed('denied', 'no', { outcome: 'denied' });

    expect((await viewOf(history)).result).toEqual({ outcome: 'denied' });
  });

  test('terminated → closed, without a result', async () => {
    const history = opened();
    history.runTerminated();
    const view = await viewOf(history);

    expect([view.closed, view.closeStatus, view.result]).toEqual([true, 'terminated', undefined]);
  });
});

describe('a chain of runs', () => {
  const handedOn = () => {
    const history = opened();
    history.continuedAsNew();
    return history;
  };
  const next = () => createHistory({ input, carried: answeredConversation({}, input), firstRunId: 'run-1' });

  test('two runs → one view: each message once, turns in order, sizes added up', async () => {
    const second = next();
    second.signalled(envelope('a'));
    second.scheduled('model-2', modelInput(2, [{ message: 'a' }]));
    second.completed('model-2', answer(2));

    const view = await viewOf(handedOn(), second);

    expect(view).toMatchObject({ runId: 'run-1', startedAt: 1_500, closed: false, earlierPartGone: false });
    expect(view.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(view.turns.map(({ turn }) => turn)).toEqual([1, 2]);
    expect([view.historyEvents, view.historyBytes]).toEqual([9, 90]);
  });

  test('the first run handed on, the next is not read yet → not closed', async () => {
    const view = await viewOf(handedOn());

    expect([view.closed, view.closeStatus]).toEqual([false, undefined]);
  });

  test('the first run is gone → said, and the window it handed on is shown', async () => {
    const view = await viewOf(next());

    expect(view.earlierPartGone).toBe(true);
    expect(view.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});
