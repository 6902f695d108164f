import type { AddedRef, CallModelInput } from '../../src/contract/activity';
import type { Conversation } from '../../src/conversation/conversation';
import { addedRefs } from '../../src/conversation/conversation';
import { messagesForModel, recordEnvelopes, recordModel, recordNudge, recordTool } from '../../src/conversation/record';
import { createHistoryDecoder } from '../../src/transcript/decode-history';
import { HistoryGap } from '../../src/transcript/fold';
import { createWindows, type Windows } from '../../src/transcript/window-cache';
import { answer, envelope, preparedConversation, toolResult, workspaceFacts } from '../support/conversation-parts';
import { createHistory, type SyntheticHistory } from '../support/history-events';
import { runInput } from '../support/run-input';

const input = runInput();
const run = { workflowId: 'wf', runId: 'run-1' };

/** A run one step from its second model call, its history, and a cache over it which counts its readings. */
function setUp(maxBytes = 1_000_000) {
  const history = createHistory({ input });
  history.scheduled('prepare', {});
  history.completed('prepare', { id: 'prepared-1', facts: workspaceFacts });
  const readings: string[] = [];
  const windows = createWindows({
    maxBytes,
    readRun: async (_run, { headOnly }) => {
      readings.push(headOnly ? 'head' : 'all');
      const decoder = createHistoryDecoder('run-1', { codecs: [] });
      await decoder.push(history.events);
      const facts = decoder.facts();
      if (facts === undefined) throw new Error('no facts');
      return facts;
    },
  });
  return { history, readings, windows };
}

function modelInput(conversation: Conversation, change: Partial<CallModelInput> = {}): CallModelInput {
  const { after, turn } = conversation;
  const added: AddedRef[] = addedRefs(conversation);
  return { seq: 1, turn: turn + 1, after, added, maxOutputTokens: 4_096, triesBefore: 0, ...change };
}

/** The first model call, answered with one call, and that call's result. */
async function firstTurn(history: SyntheticHistory, windows: Windows, keep = true): Promise<Conversation> {
  const start = preparedConversation(input);
  const call = modelInput(start);
  const reply = answer(1, { calls: [{}] });
  history.scheduled('model-1', call);
  const window = await windows.load(run, call);
  windows.answered(run, call, window, reply);
  history.completed('model-1', reply);
  const result = toolResult('1.1');
  history.scheduled('tool-1.1', {});
  if (keep) windows.keepResult(result);
  history.completed('tool-1.1', result);
  return recordTool(recordModel(start, reply), result);
}

test('the call after an answer → its window without reading history', async () => {
  const { history, readings, windows } = setUp();
  const conversation = await firstTurn(history, windows);
  expect(readings).toEqual(['all']);

  const window = await windows.load(run, modelInput(conversation));

  expect(window).toEqual({ input, facts: workspaceFacts, messages: messagesForModel(conversation) });
  expect(readings).toEqual(['all']);
});

test('the same call again → the same window: a hit changes nothing in the cache', async () => {
  const { history, windows } = setUp();
  const call = modelInput(await firstTurn(history, windows));

  expect(await windows.load(run, call)).toEqual(await windows.load(run, call));
});

test('the answer of a lost attempt is in the cache → history is read instead', async () => {
  const { history, readings, windows } = setUp();
  const conversation = await firstTurn(history, windows);
  const call = modelInput(conversation);
  const lost = answer(2);
  windows.answered(run, call, await windows.load(run, call), { ...lost, message: { ...lost.message, id: 'lost' } });

  const window = await windows.load(run, call);

  expect(window.messages).toEqual(messagesForModel(conversation));
  expect(readings).toEqual(['all', 'all']);
});

test('the answer of a lost attempt has no calls either → it is still not used', async () => {
  const { history, readings, windows } = setUp();
  const start = preparedConversation(input);
  const call = modelInput(start);
  history.scheduled('model-1', call);
  const lost = { ...answer(1).message, id: 'lost' };
  windows.answered(run, call, await windows.load(run, call), { ...answer(1), message: lost });
  history.completed('model-1', answer(1));
  const conversation = recordNudge(recordModel(start, answer(1)), { kind: 'cut', results: '', note: 'Go on.' });

  const window = await windows.load(run, modelInput(conversation));

  expect(window.messages).toEqual(messagesForModel(conversation));
  expect(readings).toEqual(['all', 'all']);
});

test.each([
  ['a result that is not in the cache', false, (conversation: Conversation) => conversation],
  ['a message of a person', true, (conversation: Conversation) => recordEnvelopes(conversation, [envelope('a')])],
])('%s → history is read', async (_title, keep, change) => {
  const { history, readings, windows } = setUp();
  const conversation = change(await firstTurn(history, windows, keep));
  history.signalled(envelope('a'));

  const window = await windows.load(run, modelInput(conversation));

  expect(window.messages).toEqual(messagesForModel(conversation));
  expect(readings).toEqual(['all', 'all']);
});

test('a lost attempt’s result is in the cache → the one that history names is used', async () => {
  const { history, windows } = setUp();
  const conversation = await firstTurn(history, windows, false);
  windows.keepResult(toolResult('1.1', { id: 'lost', message: 'of the lost attempt' }));

  expect((await windows.load(run, modelInput(conversation))).messages).toEqual(messagesForModel(conversation));
});

test('another run of the same workflow → nothing is shared', async () => {
  const { history, readings, windows } = setUp();
  const conversation = await firstTurn(history, windows);

  await windows.load({ ...run, runId: 'run-9' }, modelInput(conversation));

  expect(readings).toEqual(['all', 'all']);
});

test.each([
  ['switched off', 0],
  ['too small for any window', 10],
])('a cache that is %s → history is read each time, the windows are the same', async (_title, maxBytes) => {
  const { history, readings, windows } = setUp(maxBytes);
  const conversation = await firstTurn(history, windows);

  const window = await windows.load(run, modelInput(conversation));

  expect(window).toEqual({ input, facts: workspaceFacts, messages: messagesForModel(conversation) });
  expect(readings).toEqual(['all', 'all']);
});

test('many runs → the cache keeps to its bound: the oldest is read again, the newest is not', async () => {
  const { history, readings, windows } = setUp(4_000);
  const conversation = await firstTurn(history, windows);
  const call = modelInput(conversation);
  const window = await windows.load(run, call);
  const first = modelInput(preparedConversation(input));
  for (let n = 0; n < 20; n += 1) {
    const runId = `run-${String(n)}x`;
    windows.answered({ ...run, runId }, first, window, answer(1, { text: 'x'.repeat(500), calls: [{}] }));
  }
  windows.keepResult(toolResult('1.1'));
  readings.length = 0;

  await windows.load(run, call);
  expect(readings).toEqual(['all']);
  await windows.context({ ...run, runId: 'run-19x' });
  readings.length = 0;
  await windows.load({ ...run, runId: 'run-19x' }, call);
  expect(readings).toEqual([]);
});

test('one long run → its window counts in full: once it passes the bound, it is read again', async () => {
  const { history, readings, windows } = setUp(5_000);
  let conversation = preparedConversation(input);
  const hits: boolean[] = [];
  for (let turn = 1; turn <= 10; turn += 1) {
    const call = modelInput(conversation);
    history.scheduled(`model-${String(turn)}`, call);
    readings.length = 0;
    const window = await windows.load(run, call);
    hits.push(readings.length === 0);
    const reply = answer(turn, { text: 'x'.repeat(1_000), result: { stopReason: 'pause_turn' } });
    windows.answered(run, call, window, reply);
    history.completed(`model-${String(turn)}`, reply);
    conversation = recordModel(conversation, reply);
  }

  expect(hits).toEqual([false, true, true, true, true, false, false, false, false, false]);
});

test('history lacks a part → a gap, not a shorter window', async () => {
  const { history, windows } = setUp();
  const conversation = await firstTurn(history, windows);
  const call = modelInput(conversation, { added: [{ activity: 'tool-1.1', id: 'unknown' }] });

  await expect(windows.load(run, call)).rejects.toThrow(HistoryGap);
});

test('a bug in an added reference → thrown, not taken for a miss', async () => {
  const { history, windows } = setUp();
  const conversation = await firstTurn(history, windows);
  const call = modelInput(conversation, { added: [null as never] });

  await expect(windows.load(run, call)).rejects.toThrow(TypeError);
});

describe('what a step must know of its run', () => {
  test('asked twice → the first events are read once', async () => {
    const { readings, windows } = setUp();

    expect(await windows.context(run)).toEqual({ input, facts: workspaceFacts });
    expect(await windows.context(run)).toEqual({ input, facts: workspaceFacts });
    expect(readings).toEqual(['head']);
  });

  test('the workspace is not prepared → null, and asked anew the next time', async () => {
    const history = createHistory({ input });
    const decoder = createHistoryDecoder('run-1', { codecs: [] });
    await decoder.push(history.events);
    const windows = createWindows({ maxBytes: 1_000, readRun: () => Promise.resolve(decoder.facts()!) });
    expect((await windows.context(run)).facts).toBeNull();
    history.scheduled('prepare', {});
    history.completed('prepare', { id: 'p', facts: workspaceFacts });
    await decoder.push(history.events.slice(1));

    expect((await windows.context(run)).facts).toEqual(workspaceFacts);
  });

  test('the preparation is not among the first events → the whole history is read', async () => {
    const { history, readings } = setUp();
    const decoderOf = async (count: number) => {
      const decoder = createHistoryDecoder('run-1', { codecs: [] });
      await decoder.push(history.events.slice(0, count));
      return decoder.facts()!;
    };
    const windows = createWindows({
      maxBytes: 1_000,
      readRun: (_run, { headOnly }) => {
        readings.push(headOnly ? 'head' : 'all');
        return decoderOf(headOnly ? 2 : 99);
      },
    });

    expect((await windows.context(run)).facts).toEqual(workspaceFacts);
    expect(readings).toEqual(['head', 'all']);
  });
});
