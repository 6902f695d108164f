import fc from 'fast-check';
import type { SummarizeResult } from '../../src/contract/activity';
import type { Message, UserMessage } from '../../src/contract/message';
import type { RunInput } from '../../src/contract/run-input';
import {
  compactedWindow,
  compactionNotes,
  compactionOf,
  recordCompaction,
  remember,
  summaryActivity,
  untoldCompactions,
} from '../../src/conversation/compaction';
import type { Conversation } from '../../src/conversation/conversation';
import { jsonBytes } from '../../src/conversation/json-size';
import {
  messagesForModel,
  recordEnvelopes,
  recordModel,
  recordOverflow,
  recordTool,
} from '../../src/conversation/record';
import { checkWindow } from '../../src/model/window-check';
import {
  answer,
  answeredConversation,
  envelope,
  preparedConversation,
  toolResult,
} from '../support/conversation-parts';
import { runInput } from '../support/run-input';

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function limited(contextTokens: number, compactAt?: number): RunInput {
  const input = runInput();
  return { ...input, limits: { ...input.limits, contextTokens, ...(compactAt === undefined ? {} : { compactAt }) } };
}

/** Turns with `calls` reads each, whose results have `bytes` each. The last turn's results are still to be sent. */
function worked(turns: number, { calls = 1, bytes = 400 } = {}): Conversation {
  let conversation = preparedConversation();
  for (let turn = 1; turn <= turns; turn += 1) {
    const plans = Array.from({ length: calls }, () => ({}));
    conversation = recordModel(conversation, answer(turn, { calls: plans, result: { usage: NO_USAGE } }));
    for (let n = 1; n <= calls; n += 1) {
      conversation = recordTool(conversation, toolResult(`${turn}.${n}`, { message: 'x'.repeat(bytes) }));
    }
  }
  return conversation;
}

function head(text: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function summary(change: Partial<SummarizeResult> = {}): SummarizeResult {
  return { id: 's1', head: head('short'), usage: NO_USAGE, model: 'test', costUsd: 0.5, durationMs: 1, ...change };
}

describe('when the window has to become smaller', () => {
  test.each([
    ['there is room', worked(6), limited(200_000), undefined],
    ['four fifths of the window are full', worked(6), limited(900), { keepFrom: 'm5' }],
    ['the share of the setting is full', worked(6), limited(6_000, 0.1), { keepFrom: 'm5' }],
    [
      'the endpoint counted more than the share',
      { ...worked(6), contextTokens: 170_000 },
      runInput(),
      { keepFrom: 'm5' },
    ],
    ['a window that no run could carry', worked(6, { bytes: 200_000 }), limited(9e6), { keepFrom: 'm5' }],
    ['nothing before the newest round', worked(1), limited(10), undefined],
    ['the endpoint refused it', recordOverflow(worked(6)), runInput(), { keepFrom: 'm5' }],
    ['the endpoint refused it, and nothing can go', recordOverflow(worked(1)), runInput(), 'exhausted'],
    [
      'the answer was cut by the window',
      { ...worked(6), stopReason: 'model_context_window_exceeded' },
      runInput(),
      { keepFrom: 'm5' },
    ],
    [
      'two summaries since the last answer',
      { ...worked(6), compactions: { count: 5, inARow: 2 } },
      limited(900),
      'exhausted',
    ],
    ['before the first answer', preparedConversation(), limited(1), undefined],
  ])('%s', (_, conversation, input, expected) => {
    expect(compactionOf(conversation, input)).toEqual(expected);
  });

  test('what stays is less than a third of it, in whole rounds', () => {
    const conversation = worked(20);
    const found = compactionOf(conversation, limited(1_000));

    if (found === undefined || found === 'exhausted') throw new Error('nothing to cut');
    const index = conversation.window.findIndex((message) => 'id' in message && message.id === found.keepFrom);
    expect(jsonBytes(conversation.window.slice(index))).toBeLessThanOrEqual(conversation.windowBytes * 0.3 + 10);
    expect(index).toBeLessThan(conversation.window.length - 1);
  });
});

describe('a summary', () => {
  test('that helps → opens the window, is told by reference, its cost counts', () => {
    const before = worked(10);

    const after = recordCompaction(recordOverflow(before), summary(), 'm9');

    expect(after.window[0]).toEqual(head('short'));
    expect(after.window.slice(1)).toEqual(before.window.slice(-3));
    expect(after.window).toEqual(compactedWindow(before.window, head('short'), 'm9'));
    expect(after.windowBytes).toBe(jsonBytes(after.window));
    expect(after).toMatchObject({
      overflow: false,
      contextTokens: 0,
      compactions: { count: 1, inARow: 1 },
      costUsd: before.costUsd === null ? null : before.costUsd + 0.5,
    });
    expect(untoldCompactions(after)).toEqual([{ compacted: 's1', activity: summaryActivity(1), keepFrom: 'm9' }]);
    expect(recordModel(after, answer(11)).compactions).toEqual({ count: 1, inARow: 0 });
  });

  test.each([
    ['empty', summary({ head: null })],
    ['as long as what it replaces', summary({ head: head('y'.repeat(5_000)) })],
  ])('that is %s → the window stays, the try counts', (_, result) => {
    const before = worked(10);

    const after = recordCompaction(before, result, 'm9');

    expect(after).toMatchObject({ window: before.window, compactions: { count: 1, inARow: 1 }, pending: [] });
  });

  test('any number of rounds, calls and cuts → every request is valid, and the head opens it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 12 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 11 }),
        fc.boolean(),
        (turns, calls, at, withMessage) => {
          const base = worked(turns, { calls, bytes: 900 });
          const conversation = withMessage ? recordEnvelopes(base, [envelope('a')]) : base;
          const cut = recordCompaction(conversation, summary(), `m${Math.min(at, turns)}`);
          const messages: Message[] = messagesForModel(cut);
          expect(checkWindow(messages)).toEqual([]);
          if (cut.window !== conversation.window) expect(messages[0]).toEqual(head('short'));
        },
      ),
      { numRuns: 60 },
    );
  });
});

test('notes → what people said, the files, the plan; nothing where there is nothing', () => {
  const conversation = recordEnvelopes(
    {
      ...answeredConversation(),
      filesChanged: ['a.ts'],
      todos: [{ text: 'look', status: 'completed' }],
    },
    [envelope('m', { body: { text: 'not that file' } }), envelope('s', { kind: 'stop', body: {} })],
  );

  expect(compactionNotes(conversation)).toBe(
    'What the person said meanwhile, in order:\n- not that file\n\nFiles changed so far:\n- a.ts\n\nThe plan:\n- [completed] look',
  );
  expect(compactionNotes(answeredConversation())).toBe('');
});

test('what people said is remembered, the newest twenty, each cut', () => {
  const many = remember(
    [],
    Array.from({ length: 25 }, (_, index) => `${index} `.padEnd(2_000, 'x')),
  );

  expect(many).toHaveLength(20);
  expect(many[0]).toMatch(/^5 /);
  expect(Math.max(...many.map((text) => text.length))).toBeLessThan(1_100);
});
