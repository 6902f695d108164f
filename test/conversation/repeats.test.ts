import type { Conversation } from '../../src/conversation/conversation';
import { recordModel, recordTool } from '../../src/conversation/record';
import { repeatsOf } from '../../src/conversation/repeats';
import { answer, answeredConversation, preparedConversation, toolResult } from '../support/conversation-parts';

/** Turns of one read each; the same letter is the same call, the digit its result. */
function rounds(...marks: readonly string[]): Conversation {
  return marks.reduce((conversation, mark, index) => {
    const turn = index + 1;
    const base = answer(turn, { calls: [{ name: mark.slice(0, 1) }] });
    const next = recordModel(conversation, { ...base, message: { ...base.message, content: withoutTurn(base) } });
    return recordTool(next, toolResult(`${turn}.1`, { tool: mark.slice(0, 1), message: mark.slice(1) }));
  }, preparedConversation());
}

/** What is said beside a call does not count, so each turn says something else. */
function withoutTurn({ message }: ReturnType<typeof answer>) {
  return message.content;
}

test.each([
  [['a1'], 1],
  [['a1', 'a1'], 2],
  [['a1', 'a1', 'a1'], 3],
  [['b1', 'a1', 'a1'], 2],
  [['a1', 'b1', 'a1'], 1],
  // Another result is an effect: the file grew, the tests got further.
  [['a1', 'a2', 'a2'], 2],
  [['a1', 'a1', 'a2'], 1],
])('%j → %s', (marks, expected) => {
  expect(repeatsOf(rounds(...marks))).toBe(expected);
});

test('no calls, or one without its result → 0', () => {
  expect(repeatsOf(answeredConversation())).toBe(0);
  expect(repeatsOf(answeredConversation({ calls: [{}] }))).toBe(0);
  expect(repeatsOf(preparedConversation())).toBe(0);
});

test('a window whose end is no answer, as a summary of everything would leave it → 0', () => {
  const conversation = rounds('a1', 'a1');

  expect(repeatsOf({ ...conversation, window: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] })).toBe(0);
});

test('a window that begins in the middle → counted as far as it goes', () => {
  const conversation = rounds('a1', 'a1', 'a1');

  expect(repeatsOf({ ...conversation, window: conversation.window.slice(2) })).toBe(2);
});
