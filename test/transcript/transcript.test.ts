import type { AddedRef, CallModelInput, CallModelResult } from '../../src/contract/activity';
import type { Conversation } from '../../src/conversation/conversation';
import { recordEnvelopes, recordTool } from '../../src/conversation/record';
import { createHistoryDecoder } from '../../src/transcript/decode-history';
import type { RunFacts } from '../../src/transcript/facts';
import { HistoryGap } from '../../src/transcript/fold';
import { modelCalls, transcript, windowOf, workspaceFacts as entryZero } from '../../src/transcript/transcript';
import { answer, answeredConversation, envelope, toolResult, workspaceFacts } from '../support/conversation-parts';
import { createHistory, DELIVERIES, type SyntheticHistory } from '../support/history-events';
import { runInput } from '../support/run-input';

const input = runInput({ task: 'Fix it.' });
const text = (words: string) => ({ type: 'text', text: words }) as const;
const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content }) as const;
const user = (...content: unknown[]) => ({ role: 'user', content });

const OPENING: AddedRef[] = [{ prepared: 'p' }, { task: true }];

function modelInput(turn: number, added: readonly AddedRef[], seq = 1): CallModelInput {
  const after = turn === 1 ? null : `m${String(turn - 1)}`;
  return { seq, turn, after, added, maxOutputTokens: 4_096, triesBefore: 0 };
}

function callModel(history: SyntheticHistory, call: CallModelInput, reply?: CallModelResult): void {
  history.scheduled(`model-${String(call.turn)}`, call);
  if (reply !== undefined) history.completed(`model-${String(call.turn)}`, reply);
}

function runTool(history: SyntheticHistory, call: string, id = `r${call}`): void {
  history.scheduled(`tool-${call}`, { call });
  history.completed(`tool-${call}`, toolResult(call, { id }));
}

async function factsOf({ events }: SyntheticHistory): Promise<RunFacts> {
  const decoder = createHistoryDecoder('run-1', { codecs: [] });
  await decoder.push(events);
  const facts = decoder.facts();
  if (facts === undefined) throw new Error('no facts');
  return facts;
}

/** A history up to the first answer. */
function begun(reply: CallModelResult): SyntheticHistory {
  const history = createHistory({ input });
  history.scheduled('prepare', {});
  history.completed('prepare', { id: 'p', facts: workspaceFacts });
  callModel(history, modelInput(1, OPENING), reply);
  return history;
}

test('parallel reads whose results came in another order → one user message in call order', async () => {
  const reply = answer(1, { calls: [{}, {}] });
  const history = begun(reply);
  history.scheduled('tool-1.1', {});
  history.scheduled('tool-1.2', {});
  history.completed('tool-1.2', toolResult('1.2', { status: 'failed' }));
  history.completed('tool-1.1', toolResult('1.1'));
  const added = [
    { activity: 'tool-1.1', id: 'r1.1' },
    { activity: 'tool-1.2', id: 'r1.2' },
  ];
  callModel(history, modelInput(2, added), answer(2));

  expect(transcript(await factsOf(history))).toEqual([
    user(text('Fix it.')),
    reply.message,
    user(result('toolu_1_1', 'result 1.1'), { ...result('toolu_1_2', 'result 1.2'), is_error: true }),
    answer(2).message,
  ]);
});

test.each(DELIVERIES)('a message by %s → where the model call took it in, behind the results', async (how) => {
  const history = begun(answer(1, { calls: [{}] }));
  history[how](envelope('a'));
  runTool(history, '1.1');
  callModel(history, modelInput(2, [{ message: 'a' }, { activity: 'tool-1.1', id: 'r1.1' }]), answer(2));

  expect(transcript(await factsOf(history))[2]).toEqual(user(result('toolu_1_1', 'result 1.1'), text('message a')));
});

test('inline results and notes → in the words of the reference', async () => {
  const history = begun(answer(1, { calls: [{}] }));
  const added = [{ inline: { call: '1.1', text: 'Not run, denied.' } }, { note: 'Go on.' }];
  callModel(history, modelInput(2, added), answer(2));

  expect(transcript(await factsOf(history))[2]).toEqual(
    user({ ...result('toolu_1_1', 'Not run, denied.'), is_error: true }, text('Go on.')),
  );
});

test('a model call was scheduled again → counted once, with the answer of the last', async () => {
  const history = begun(answer(1));
  history.signalled(envelope('a'));
  const added = [{ message: 'a' }];
  callModel(history, modelInput(2, added, 1));
  history.timedOut('model-2');
  callModel(history, modelInput(2, added, 2), answer(2));
  const facts = await factsOf(history);

  expect(modelCalls(facts).map(({ turn, input: { seq } }) => [turn, seq])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(transcript(facts).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
});

describe('a reference that leads nowhere', () => {
  test.each([
    ['a result of a lost attempt', { activity: 'tool-1.1', id: 'lost' }, 'result lost of tool-1.1 is not known'],
    ['a result of no activity', { activity: 'tool-9.9', id: 'r9.9' }, 'result r9.9 of tool-9.9 is not known'],
    ['a message that nobody sent', { message: 'x' }, 'message x is not known'],
    ['a call of no answer', { inline: { call: '7.1', text: 'x' } }, 'call 7.1 is not one of the last message'],
  ] as const)('%s → a gap that names it', async (_title, ref, message) => {
    const history = begun(answer(1, { calls: [{}] }));
    runTool(history, '1.1');
    const call = modelInput(2, [ref]);
    callModel(history, call);
    const facts = await factsOf(history);

    expect(() => windowOf(facts, call)).toThrow(HistoryGap);
    expect(() => windowOf(facts, call)).toThrow(message);
    expect(() => transcript(facts)).toThrow(message);
  });
});

test('the window of a model call → what came before it, and what it adds; nothing of later calls', async () => {
  const history = begun(answer(1, { calls: [{}] }));
  runTool(history, '1.1');
  const second = modelInput(2, [{ activity: 'tool-1.1', id: 'r1.1' }]);
  callModel(history, second, answer(2));
  const facts = await factsOf(history);

  expect(windowOf(facts, modelInput(1, OPENING))).toEqual([user(text('Fix it.'))]);
  expect(windowOf(facts, second)).toEqual(transcript(facts).slice(0, 3));
});

describe('the tail', () => {
  const opened = answer(1, { calls: [{}, {}] });

  test('a closed run → as its memo tells it', async () => {
    const history = begun(opened);
    runTool(history, '1.1');
    const added = [{ activity: 'tool-1.1', id: 'r1.1' }, { inline: { call: '1.2', text: 'Interrupted.' } }];
    history.memo({ surehandTail: { after: 'm1', added } });
    history.runCancelled();

    expect(transcript(await factsOf(history)).slice(2)).toEqual([
      user(result('toolu_1_1', 'result 1.1'), { ...result('toolu_1_2', 'Interrupted.'), is_error: true }),
    ]);
  });

  test('the last model call failed, its references stand in the memo too → told once', async () => {
    const history = begun(answer(1));
    history.signalled(envelope('a'));
    callModel(history, modelInput(2, [{ message: 'a' }]));
    history.failed('model-2', 'gone');
    history.memo({ surehandTail: { after: 'm1', added: [{ message: 'a' }] } });

    expect(transcript(await factsOf(history)).slice(2)).toEqual([user(text('message a'))]);
  });

  test('a live run → the results that are there already', async () => {
    const history = begun(opened);
    expect(transcript(await factsOf(history))).toHaveLength(2);
    history.scheduled('tool-1.1', {});
    runTool(history, '1.2');

    expect(transcript(await factsOf(history)).slice(2)).toEqual([user(result('toolu_1_2', 'result 1.2'))]);
  });

  test('a live run while the model is asked → what it is asked', async () => {
    const history = createHistory({ input });
    expect(transcript(await factsOf(history))).toEqual([]);
    callModel(history, modelInput(1, OPENING));

    expect(transcript(await factsOf(history))).toEqual([user(text('Fix it.'))]);
  });
});

describe('a run that was handed a conversation', () => {
  const open: Conversation = answeredConversation({ calls: [{}, {}, { verdict: 'deny', reason: 'no' }] }, input);
  const failed = recordTool(open, toolResult('1.2', { status: 'failed' }));
  const carried = recordEnvelopes(recordTool(failed, toolResult('1.1')), [envelope('a')]);
  const added: AddedRef[] = [
    { activity: 'tool-1.1', id: 'r1.1' },
    { activity: 'tool-1.2', id: 'r1.2' },
    { inline: { call: '1.3', text: 'Not run, denied: no' } },
    { message: 'a' },
  ];
  const between = user(
    result('toolu_1_1', 'result 1.1'),
    { ...result('toolu_1_2', 'result 1.2'), is_error: true },
    { ...result('toolu_1_3', 'Not run, denied: no'), is_error: true },
    text('message a'),
  );

  test('nothing happened yet → the window it was handed, and what was pending', async () => {
    const facts = await factsOf(createHistory({ input, carried }));

    expect(transcript(facts)).toEqual([...carried.window, between]);
    expect(entryZero(facts)).toEqual(workspaceFacts);
  });

  test('its first model call → finds results and messages that the run before had', async () => {
    const history = createHistory({ input, carried });
    const call = modelInput(2, added);
    callModel(history, call, answer(2));
    const facts = await factsOf(history);

    expect(windowOf(facts, call)).toEqual([...carried.window, between]);
    expect(transcript(facts)).toEqual([...carried.window, between, answer(2).message]);
  });

  test('calls that were open → their results are found in its own history', async () => {
    const history = createHistory({ input, carried: open });
    runTool(history, '1.1');

    expect(transcript(await factsOf(history)).slice(2)).toEqual([
      user(result('toolu_1_1', 'result 1.1'), { ...result('toolu_1_3', 'Not run, denied: no'), is_error: true }),
    ]);
  });

  test('a result with another id → a gap', async () => {
    const facts = await factsOf(createHistory({ input, carried }));

    expect(() => windowOf(facts, modelInput(2, [{ activity: 'tool-1.1', id: 'other' }]))).toThrow(HistoryGap);
    expect(() => windowOf(facts, modelInput(2, [{ message: 'b' }]))).toThrow(HistoryGap);
  });

  test('it hands the conversation on → the tail is told by the next run', async () => {
    const history = begun(answer(1, { calls: [{}] }));
    runTool(history, '1.1');
    history.continuedAsNew();

    expect(transcript(await factsOf(history)).map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});

test('entry 0 → what the preparation found; nothing before it', async () => {
  expect(entryZero(await factsOf(createHistory({ input })))).toBeNull();
  expect(entryZero(await factsOf(begun(answer(1))))).toEqual(workspaceFacts);
});
