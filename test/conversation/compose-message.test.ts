import fc from 'fast-check';
import type { AssistantMessage, UserBlock } from '../../src/contract/message';
import { assistantText, composeUserMessage, lastAssistant } from '../../src/conversation/compose-message';

function callsMessage(...ids: string[]): AssistantMessage {
  const calls = ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} }) as const);
  return { role: 'assistant', id: 'm1', content: [{ type: 'text', text: 'Looking.' }, ...calls] };
}

function result(id: string): UserBlock {
  return { type: 'tool_result', tool_use_id: id, content: `result ${id}` };
}

function text(words: string): UserBlock {
  return { type: 'text', text: words };
}

test('nothing to say → no message', () => {
  expect(composeUserMessage(callsMessage('a'), [])).toBeUndefined();
});

test('results and texts mixed → results first in call order, then the rest as it came', () => {
  const blocks = [text('one'), result('b'), text('two'), result('a')];

  expect(composeUserMessage(callsMessage('a', 'b'), blocks)).toEqual({
    role: 'user',
    content: [result('a'), result('b'), text('one'), text('two')],
  });
});

test('a result of no known call → behind the others, still before texts', () => {
  expect(composeUserMessage(callsMessage('a'), [text('one'), result('x'), result('a')])?.content).toEqual([
    result('a'),
    result('x'),
    text('one'),
  ]);
});

test('no message before → blocks as they came', () => {
  expect(composeUserMessage(undefined, [text('one'), text('two')])?.content).toEqual([text('one'), text('two')]);
});

test('whatever order results come in → the same message', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const shuffled = fc.shuffledSubarray([...ids.map(result), text('one')], { minLength: 6 });
  fc.assert(
    fc.property(shuffled, (blocks) => {
      expect(composeUserMessage(callsMessage(...ids), blocks)?.content).toEqual([...ids.map(result), text('one')]);
    }),
  );
});

test('the last assistant message is found behind a user message; none → undefined', () => {
  const user = { role: 'user', content: [text('x')] } as const;

  expect(lastAssistant([user, callsMessage('a'), user])).toEqual(callsMessage('a'));
  expect(lastAssistant([user])).toBeUndefined();
});

test('the text of an answer is its text blocks, a blank line between them', () => {
  const thinking = { type: 'thinking', thinking: 'hm', signature: 's' } as const;
  const content = [thinking, { type: 'text', text: 'One.' }, { type: 'text', text: 'Two.' }] as const;

  expect(assistantText({ role: 'assistant', id: 'm1', content })).toBe('One.\n\nTwo.');
  expect(assistantText(undefined)).toBe('');
});
