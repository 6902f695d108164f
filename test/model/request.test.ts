import fc from 'fast-check';
import type { Message } from '../../src/contract/message';
import { prepareRequest } from '../../src/model/request';
import { checkWindow } from '../../src/model/window-check';
import { repairWindow } from '../../src/model/window-repair';
import { modelRequest, userText } from '../support/model-request';
import { thrownFailure } from '../support/port-failure';

const said = (id: string, text: string): Message => ({ role: 'assistant', id, content: [{ type: 'text', text }] });
const called = (id: string, ...ids: string[]): Message => ({
  role: 'assistant',
  id,
  content: ids.map((call) => ({ type: 'tool_use', id: call, name: 'bash', input: { command: 'true' } })),
});
const answered = (...ids: string[]): Message => ({
  role: 'user',
  content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `result of ${id}` })),
});

/** How many cache marks a request carries. */
const countMarks = (body: unknown) => JSON.stringify(body).split('"cache_control"').length - 1;

describe('the body', () => {
  test('a sound window → the literal body', () => {
    const messages: Message[] = [
      userText('Fix it.'),
      {
        role: 'assistant',
        id: 'aaaaaaaaaaaa',
        content: [
          { type: 'thinking', thinking: 't', signature: 'S==' },
          { type: 'text', text: 'Reading.' },
          { type: 'tool_use', id: 't1', name: 'read_file', input: { path: 'a' } },
          { type: 'opaque', raw: { type: 'server_note', z: 1, a: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'no such file', is_error: true },
          { type: 'blob', blob: 'shot.png', bytes: 12, digest: 'sha256:ab' },
        ],
      },
    ];
    expect(JSON.parse(JSON.stringify(prepareRequest(modelRequest({ messages }))))).toEqual({
      repaired: [],
      body: {
        model: 'claude-sonnet-5-5',
        max_tokens: 1024,
        system: [{ type: 'text', text: 'You are a test.', cache_control: { type: 'ephemeral' } }],
        tools: [
          {
            name: 'read_file',
            description: 'Reads a file.',
            input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
            cache_control: { type: 'ephemeral' },
          },
        ],
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Fix it.', cache_control: { type: 'ephemeral' } }] },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 't', signature: 'S==' },
              { type: 'text', text: 'Reading.' },
              { type: 'tool_use', id: 't1', name: 'read_file', input: { path: 'a' } },
              { type: 'server_note', z: 1, a: 2 },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 't1', content: 'no such file', is_error: true },
              {
                type: 'text',
                text: '[shot.png: 12 bytes, sha256:ab, kept on the host and not shown here]',
                cache_control: { type: 'ephemeral' },
              },
            ],
          },
        ],
        stream: true,
      },
    });
  });

  test('an answer that paused at the end of the window → sent back to be gone on from, without white space at its end', () => {
    const messages = [userText('Go.'), said('m', 'First, \n'), said('n', 'then \n')];
    expect(prepareRequest(modelRequest({ messages })).body.messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'First, \n' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'then' }] },
    ]);
  });

  test('no tools and a blank system prompt → neither key', () => {
    const { body } = prepareRequest(modelRequest({ tools: [], system: ' ' }));
    expect(Object.keys(body)).toEqual(['model', 'max_tokens', 'messages', 'stream']);
  });

  test('a tool schema without properties and required → both are there', () => {
    const tools = [{ name: 'a', description: 'b', inputSchema: { additionalProperties: false } }];
    expect(prepareRequest(modelRequest({ tools })).body.tools?.[0]?.input_schema).toEqual({
      additionalProperties: false,
      type: 'object',
      properties: {},
      required: [],
    });
  });

  test.each([
    ['Read/file ç', 'Read_file__'],
    ['', 'unnamed'],
    ['a'.repeat(300), 'a'.repeat(128)],
    ['__proto__', '__proto__'],
  ])('a call of a made-up tool name %j → a name the API accepts', (name, wireName) => {
    const messages: Message[] = [
      userText('x'),
      { role: 'assistant', id: 'm', content: [{ type: 'tool_use', id: 't', name, input: {} }] },
      answered('t'),
    ];
    expect(JSON.stringify(prepareRequest(modelRequest({ messages })).body)).toContain(
      `{"type":"tool_use","id":"t","name":"${wireName}","input":{}}`,
    );
  });

  test.each([['{"path":"a'], [null], [[1]], [7]])('a call whose input is %j and no object → an object', (input) => {
    const messages: Message[] = [
      userText('x'),
      { role: 'assistant', id: 'm', content: [{ type: 'tool_use', id: 't', name: 'a', input }] },
      answered('t'),
    ];
    expect(prepareRequest(modelRequest({ messages })).body.messages[1]?.content).toEqual([
      { type: 'tool_use', id: 't', name: 'a', input: { invalid_input: input } },
    ]);
  });

  test('consecutive turns → the earlier request is a byte prefix of the later one, but for the cache marks; at most four marks', () => {
    const window: Message[] = [userText('Go.')];
    const withoutMarks = (body: unknown) =>
      JSON.stringify(body).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const cut = (text: string) => text.replace(/\],"stream":true\}$/, '');
    let before = '';
    for (let turn = 1; turn <= 12; turn += 1) {
      const { body } = prepareRequest(modelRequest({ messages: window, turn }));
      expect(countMarks(body)).toBe(turn === 1 ? 3 : 4);
      const bytes = cut(withoutMarks(body));
      expect(bytes.startsWith(before)).toBe(true);
      before = bytes;
      window.push(called(`m${turn}`, `t${turn}a`, `t${turn}b`), answered(`t${turn}a`, `t${turn}b`));
    }
  });

  test('a body over 31 MB → context_window', async () => {
    const messages = [userText('x'.repeat(31_000_001))];
    expect((await thrownFailure(() => prepareRequest(modelRequest({ messages })))).class).toBe('context_window');
  });
});

describe('what breaks a window', () => {
  test.each<[string, Message[], string[]]>([
    ['no messages', [], ['empty_window']],
    ['an assistant message first', [said('m', 'a'), userText('b')], ['first_not_user']],
    ['two user messages in a row', [userText('a'), userText('b')], ['adjacent_users']],
    ['an empty message', [{ role: 'user', content: [] }], ['empty_message']],
    ['blank text of a person', [userText(' \n')], ['blank_block']],
    ['blank text of the model', [userText('a'), said('m', ''), userText('b')], ['blank_block']],
    ['a lone surrogate', [userText('a\ud83d')], ['ill_formed']],
    ['a call id with a space', [userText('a'), called('m', 'a b'), answered('a b')], ['bad_id']],
    [
      'a call id used twice in a message',
      [userText('a'), called('m', 't', 't'), answered('t', 't')],
      ['duplicate_id', 'orphan_result'],
    ],
    [
      'a call id used in two messages',
      [userText('a'), called('m', 't'), answered('t'), called('n', 't'), answered('t')],
      ['duplicate_id'],
    ],
    ['a call without a result', [userText('a'), called('m', 't', 'u'), answered('t')], ['missing_result']],
    ['a call at the end', [userText('a'), called('m', 't')], ['missing_result']],
    [
      'a result one message late',
      [userText('a'), called('m', 't'), userText('b'), said('n', 'c'), answered('t')],
      ['missing_result', 'orphan_result'],
    ],
    ['a result without a call', [userText('a'), said('m', 'b'), answered('t')], ['orphan_result']],
    ['a call answered twice', [userText('a'), called('m', 't'), answered('t', 't')], ['orphan_result']],
    [
      'a text before a result',
      [
        userText('a'),
        called('m', 't'),
        {
          role: 'user',
          content: [
            { type: 'text', text: 'b' },
            { type: 'tool_result', tool_use_id: 't', content: 'c' },
          ],
        },
      ],
      ['results_not_first'],
    ],
    [
      'a blank result',
      [
        userText('a'),
        called('m', 't'),
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '' }] },
      ],
      ['blank_block'],
    ],
  ])('%s → found', (_, messages, rules) => {
    expect(checkWindow(messages).map((violation) => violation.rule)).toEqual(rules);
  });
});

describe('the repair', () => {
  const NO_RESULT = {
    type: 'tool_result',
    content: 'No result was recorded for this call. It is not known whether it ran: look before you repeat it.',
    is_error: true,
  };

  test('missing, late and doubled results → one each, in call order, ahead of the text', () => {
    const messages: Message[] = [
      userText('a'),
      called('mmmmmmmmmmmm', 't1', 't2', 't3'),
      userText('b'),
      answered('t3', 't1', 't1', 'other'),
    ];
    expect(repairWindow(messages).slice(2)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'result of t1' },
          { ...NO_RESULT, tool_use_id: 't2' },
          { type: 'tool_result', tool_use_id: 't3', content: 'result of t3' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  test('calls that share an id → renamed, each with its own result by position', () => {
    const messages: Message[] = [
      userText('a'),
      called('mmmmmmmmmmmm', 't', 't'),
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't', content: 'first' },
          { type: 'tool_result', tool_use_id: 't', content: 'second' },
        ],
      },
    ];
    const [, assistant, results] = repairWindow(messages);
    expect(assistant?.content).toMatchObject([{ id: 't' }, { id: 'mmmmmmmmmmmm-2' }]);
    expect(results?.content).toMatchObject([
      { tool_use_id: 't', content: 'first' },
      { tool_use_id: 'mmmmmmmmmmmm-2', content: 'second' },
    ]);
  });

  test('an interrupted turn at the end of the window → its calls get error results', () => {
    expect(repairWindow([userText('a'), called('m', 't')])).toEqual([
      userText('a'),
      called('m', 't'),
      { role: 'user', content: [{ ...NO_RESULT, tool_use_id: 't' }] },
    ]);
  });

  test('an empty answer between user messages → it goes and they become one', () => {
    expect(repairWindow([userText('a'), said('m', ' '), userText('b')])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  test('blank output and lone surrogates → a placeholder and well-formed text', () => {
    const messages: Message[] = [
      userText('a\ud83d'),
      called('m', 't'),
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '\n' }] },
    ];
    const [first, , results] = repairWindow(messages);
    expect(first).toEqual(userText('a\ufffd'));
    expect(results?.content).toEqual([{ type: 'tool_result', tool_use_id: 't', content: '(no output)' }]);
  });

  test('two answers in a row without calls (a pause) → untouched', () => {
    const messages = [userText('a'), said('m', 'b'), said('n', 'c')];
    expect(checkWindow(messages)).toEqual([]);
  });
});

describe('any window', () => {
  const id = fc.constantFrom('t1', 't2', 't3', '', 'a b', 'm1-1', 'ç');
  const text = fc.constantFrom('', ' ', 'hello', 'x\ud83d', '🔥', 'line 1\nline 2');
  const user = fc.record({
    role: fc.constant('user' as const),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text' as const), text }),
        fc.record({ type: fc.constant('tool_result' as const), tool_use_id: id, content: text }),
        fc.record({
          type: fc.constant('blob' as const),
          blob: text,
          bytes: fc.constant(3),
          digest: fc.constant('sha256:00'),
        }),
      ),
      { maxLength: 4 },
    ),
  });
  const assistant = fc.record({
    role: fc.constant('assistant' as const),
    id: fc.constantFrom('m1', 'm2', 'm3'),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text' as const), text }),
        fc.record({ type: fc.constant('tool_use' as const), id, name: text, input: fc.dictionary(text, text) }),
        fc.record({ type: fc.constant('thinking' as const), thinking: text, signature: fc.constant('S') }),
      ),
      { maxLength: 4 },
    ),
  });
  const windows = fc.array(fc.oneof(user, assistant), { maxLength: 8 });

  test('after the repair it is sound, or the failure says that it cannot be sent', () => {
    fc.assert(
      fc.property(windows, (messages) => {
        const left = checkWindow(repairWindow(messages)).map((violation) => violation.rule);
        expect(left.filter((rule) => rule !== 'empty_window' && rule !== 'first_not_user')).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test('the repair changes nothing in what it has repaired', () => {
    fc.assert(
      fc.property(windows, (messages) => {
        const once = repairWindow(messages);
        expect(repairWindow(once)).toEqual(once);
      }),
      { numRuns: 500 },
    );
  });

  test('a sound window → sent with the bytes it has', () => {
    fc.assert(
      fc.property(windows, (messages) => {
        const sound = repairWindow([userText('start'), ...messages]);
        const { body, repaired } = prepareRequest(modelRequest({ messages: sound }));
        expect(repaired).toEqual([]);
        expect(body.messages).toHaveLength(sound.length);
        expect(JSON.stringify(repairWindow(sound))).toBe(JSON.stringify(sound));
      }),
      { numRuns: 500 },
    );
  });

  test('the request holds no lone surrogate', () => {
    fc.assert(
      fc.property(windows, (messages) => {
        const { body } = prepareRequest(modelRequest({ messages: [userText('start'), ...messages] }));
        // JSON.stringify writes a lone surrogate as an escape.
        expect(JSON.stringify(body)).not.toMatch(/\\ud[89a-f]/i);
      }),
      { numRuns: 500 },
    );
  });
});
