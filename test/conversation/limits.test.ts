import type { Conversation } from '../../src/conversation/conversation';
import {
  exceededLimit,
  MAX_MESSAGE_BYTES,
  outputBudget,
  shareBytes,
  timeLimitReached,
} from '../../src/conversation/limits';
import { addCost, addSpent, addUsage, totalTokens } from '../../src/conversation/usage';
import { answeredConversation, preparedConversation } from '../support/conversation-parts';
import { runInput } from '../support/run-input';

const limits = { maxTurns: 10, maxOutputTokens: 4_096, hostWaitMs: 60_000 };
const usage = { input: 100, output: 20, cacheRead: 3, cacheWrite: 4 };

function conversation(change: Partial<Conversation>): Conversation {
  return { ...preparedConversation(), ...change };
}

test.each([
  ['one turn left', { turn: 9 }, {}, undefined],
  ['no turn left', { turn: 10 }, {}, ['max_turns', 'the limit of 10 turns is reached']],
  ['before the deadline', { deadlineAt: 5_001 }, { maxTimeMs: 4_000 }, undefined],
  ['at the deadline', { deadlineAt: 5_000 }, { maxTimeMs: 4_000 }, ['max_time', 'the time limit of 4 s is reached']],
  ['tokens below the limit', { usage: { a: usage } }, { maxTokens: 128 }, undefined],
  [
    'tokens of all models together at the limit',
    { usage: { a: usage, b: usage } },
    { maxTokens: 254 },
    ['max_tokens', 'the limit of 254 tokens is reached (254 used)'],
  ],
  ['cost below the limit', { costUsd: 0.49 }, { maxCostUsd: 0.5 }, undefined],
  ['cost at the limit', { costUsd: 0.5 }, { maxCostUsd: 0.5 }, ['max_cost', 'the limit of 0.5 USD is reached']],
  ['an unknown cost', { costUsd: null }, { maxCostUsd: 0.5 }, undefined],
  ['the turn limit first of several', { turn: 10, costUsd: 1 }, { maxCostUsd: 0.5 }, ['max_turns', expect.any(String)]],
] as const)('%s', (_title, change, more, expected) => {
  const error = exceededLimit(conversation(change), { ...limits, ...more }, 5_000);

  expect(error === undefined ? undefined : [error.class, error.message]).toEqual(expected);
  if (error !== undefined) expect(error.retryable).toBe(false);
});

test('the time limit that a timer finds reads the same as the one judged before a call', () => {
  expect(timeLimitReached({ ...limits, maxTimeMs: 1_500 })).toEqual({
    class: 'max_time',
    message: 'the time limit of 1.5 s is reached',
    retryable: false,
  });
  expect(timeLimitReached(limits).message).toBe('the time limit of 0 s is reached');
});

test.each([
  [0, 262_144],
  [1, 262_144],
  [8, 32_768],
  [3, 87_381],
])('%i calls → each may take %i bytes', (calls, bytes) => {
  expect(shareBytes(calls)).toBe(bytes);
});

test('a message of the model may have 256 KB of JSON', () => {
  expect(MAX_MESSAGE_BYTES).toBe(262_144);
});

test('usage adds up by model', () => {
  const once = addUsage({}, 'a', usage);
  const twice = addUsage(addUsage(once, 'a', usage), 'b', usage);

  expect(twice).toEqual({ a: { input: 200, output: 40, cacheRead: 6, cacheWrite: 8 }, b: usage });
  expect(once).toEqual({ a: usage });
  expect(totalTokens(twice)).toBe(381);
  expect(totalTokens({})).toBe(0);
});

test.each(['__proto__', 'constructor', 'toString'])('a model called %s is counted like any other', (name) => {
  const twice = addUsage(addUsage({}, name, usage), name, usage);

  expect(totalTokens(twice)).toBe(254);
});

test.each([
  [1, 2, 3],
  [0, 0, 0],
  [null, 2, null],
  [1, null, null],
])('costs %p and %p → %p: unknown stays unknown', (sum, cost, expected) => {
  expect(addCost(sum, cost)).toBe(expected);
});

test.each([
  ['an answer that was not cut', { calls: false }, 1_000],
  ['a text that was cut', { stopReason: 'max_tokens', nudges: 1, calls: false }, 1_000],
  ['a call that was cut', { stopReason: 'max_tokens', nudges: 1, calls: true }, 2_000],
  ['a call that was cut again', { stopReason: 'max_tokens', nudges: 2, calls: true }, 1_000],
])('room for the next answer after %s → %j gives %s', (_, { calls, ...change }, expected) => {
  const conversation = { ...answeredConversation(calls ? { calls: [{}] } : {}), ...change };
  const limits = { ...runInput().limits, maxOutputTokens: 1_000 };

  expect(outputBudget(conversation, limits)).toBe(expected);
});

test('the raised room is the setting, and never less than the usual', () => {
  const conversation = { ...answeredConversation({ calls: [{}] }), stopReason: 'max_tokens', nudges: 1 };
  const limits = { ...runInput().limits, maxOutputTokens: 1_000 };

  expect(outputBudget(conversation, { ...limits, maxOutputRaised: 64_000 })).toBe(64_000);
  expect(outputBudget(conversation, { ...limits, maxOutputRaised: 10 })).toBe(1_000);
});

test('what failed tries cost is added to the same sums; an unknown price makes the sum unknown', () => {
  const sums = { usage: { a: usage }, costUsd: 1 };

  expect(addSpent(sums, undefined)).toBe(sums);
  expect(addSpent(sums, { usage: { a: usage, b: usage }, costUsd: 0.25 })).toEqual({
    usage: { a: { input: 200, output: 40, cacheRead: 6, cacheWrite: 8 }, b: usage },
    costUsd: 1.25,
  });
  expect(addSpent(sums, { usage: {}, costUsd: null }).costUsd).toBeNull();
});
