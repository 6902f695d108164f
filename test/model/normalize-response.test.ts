import fc from 'fast-check';
import type { AssistantBlock } from '../../src/contract/message';
import { normalizeResponse } from '../../src/model/normalize-response';

const call = (id: string, input: unknown = {}): AssistantBlock => ({ type: 'tool_use', id, name: 'bash', input });
const idsOf = (content: readonly AssistantBlock[]) =>
  content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));

test('blank text → dropped; nothing else left → empty content', () => {
  expect(
    normalizeResponse(
      [
        { type: 'text', text: '\n' },
        { type: 'text', text: ' a ' },
      ],
      'm',
      new Set(),
    ),
  ).toEqual([{ type: 'text', text: ' a ' }]);
  expect(normalizeResponse([{ type: 'text', text: ' \t\n' }], 'm', new Set())).toEqual([]);
});

test('thinking at the end of a cut answer → dropped, before a text or call kept', () => {
  const thinking = { type: 'thinking', thinking: 't', signature: '' } as const;
  const redacted = { type: 'redacted_thinking', data: 'R' } as const;
  expect(normalizeResponse([thinking, call('t1'), redacted, thinking], 'm', new Set())).toEqual([thinking, call('t1')]);
  expect(normalizeResponse([thinking, { type: 'text', text: ' ' }], 'm', new Set())).toEqual([]);
});

test('fields that an endpoint wants back → kept with their block', () => {
  const text = { type: 'text', text: 'a', extra: { reasoning_content: 'r' } } as const;
  expect(normalizeResponse([text], 'm', new Set())).toEqual([text]);
});

test('ids that are well-formed and unused → kept', () => {
  expect(idsOf(normalizeResponse([call('toolu_1'), call('B-2')], 'abc', new Set(['toolu_9'])))).toEqual([
    'toolu_1',
    'B-2',
  ]);
});

test.each([
  ['the same id twice', ['t1', 't1'], [], ['t1', 'msg-2']],
  ['an empty id', [''], [], ['msg-1']],
  ['an id with a space, a slash and a ç', ['a b/ç'], [], ['msg-1']],
  ['an id of 65 characters', ['x'.repeat(65)], [], ['msg-1']],
  ['an id used earlier in the window', ['ok', 't1'], ['t1'], ['ok', 'msg-2']],
  ['a replacement that is taken by the message itself', ['msg-2', ''], [], ['msg-2', 'msg-2-2']],
])('%s → replaced by message id and position', (_, ids, used, expected) => {
  expect(
    idsOf(
      normalizeResponse(
        ids.map((id) => call(id)),
        'msg',
        new Set(used),
      ),
    ),
  ).toEqual(expected);
});

test('lone surrogates in text, names and inputs → replaced, keys too; thinking → untouched', () => {
  const thinking: AssistantBlock = { type: 'thinking', thinking: 'x\ud83d', signature: 's' };
  const content: AssistantBlock[] = [
    thinking,
    { type: 'text', text: 'a\ud83d' },
    {
      type: 'tool_use',
      id: 't',
      name: 'n\udc00',
      input: { command: 'echo \ud99c', list: ['\udfff', { 'k\ud800': '🔥' }] },
    },
  ];
  expect(normalizeResponse(content, 'm', new Set())).toEqual([
    thinking,
    { type: 'text', text: 'a\ufffd' },
    {
      type: 'tool_use',
      id: 't',
      name: 'n\ufffd',
      input: { command: 'echo \ufffd', list: ['\ufffd', { 'k\ufffd': '🔥' }] },
    },
  ]);
});

test('a key __proto__ in an input → stays data', () => {
  const input: unknown = JSON.parse('{"__proto__":{"a":1}}');
  const [block] = normalizeResponse([call('t', input)], 'm', new Set());
  expect(JSON.stringify(block)).toContain('{"__proto__":{"a":1}}');
});

test('an input nested a thousand levels deep → cut off with a note, no crash', () => {
  const input: unknown = JSON.parse('['.repeat(1000) + ']'.repeat(1000));
  const [block] = normalizeResponse([call('t', input)], 'm', new Set());
  expect(JSON.stringify(block)).toContain('(nested too deeply)');
});

test('any ids → unique, well-formed and none of the used ones', () => {
  const id = fc.oneof(fc.constantFrom('t1', 't2', '', 'msg-1', 'msg-2', 'a b'), fc.string());
  fc.assert(
    fc.property(fc.array(id, { maxLength: 8 }), fc.array(id, { maxLength: 4 }), (ids, used) => {
      const chosen = idsOf(
        normalizeResponse(
          ids.map((each) => call(each)),
          'msg',
          new Set(used),
        ),
      );
      expect(chosen).toHaveLength(ids.length);
      expect(new Set([...chosen, ...used]).size).toBe(chosen.length + new Set(used).size);
      for (const each of chosen) expect(each).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    }),
  );
});
