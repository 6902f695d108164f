import type { Message } from '../../../src/contract/message';
import { createScriptedModel } from '../../../src/model/scripted/scripted-model';
import { callOptions, modelRequest, userText } from '../../support/model-request';
import { failureOf } from '../../support/port-failure';

const model = createScriptedModel();
const respond = (script: string, parts: Parameters<typeof modelRequest>[0] = {}, options = callOptions()) =>
  model.respond(modelRequest({ script, ...parts }), options);

const results = (...contents: string[]): Message[] => [
  userText('Do it.'),
  {
    role: 'assistant',
    id: 'aaaaaaaaaaaa',
    content: contents.map((_, i) => ({ type: 'tool_use', id: `t${i}`, name: 'bash', input: {} })),
  },
  { role: 'user', content: contents.map((content, i) => ({ type: 'tool_result', tool_use_id: `t${i}`, content })) },
];

const THREE = `turns:
  - { text: one }
  - { error: { status: 529, type: overloaded_error, times: 2 } }
  - { error: { status: 429, type: rate_limit_error, retryAfterMs: 7000 } }
  - { text: two }
  - calls: [{ name: bash, input: { command: ls } }, { id: "a b", name: "" }]
`;

describe('which entry answers', () => {
  test.each([
    [1, 'one'],
    [2, 'two'],
  ])('turn %i, in any order and repeated → %s', async (turn, text) => {
    for (const tryNumber of [9, 9]) {
      expect((await respond(THREE, { turn, tryNumber })).content).toEqual([{ type: 'text', text }]);
    }
  });

  test.each([
    [1, 'overloaded', undefined],
    [2, 'overloaded', undefined],
    [3, 'rate_limited', 7000],
  ])('try %i of a turn with errors before it → %s', async (tryNumber, failureClass, retryAfterMs) => {
    const failure = await failureOf(respond(THREE, { turn: 2, tryNumber }));
    expect(failure.class).toBe(failureClass);
    expect(failure.retryAfterMs).toBe(retryAfterMs);
  });

  test('an error without a status → the failure of an error in mid-stream', async () => {
    const failure = await failureOf(respond('turns: [{ error: { type: overloaded_error } }]'));
    expect(failure).toEqual({ class: 'overloaded', retryable: true, detail: 'The scripted endpoint is overloaded.' });
  });

  test('a turn past the end → script_exhausted that says how many there are and which was asked for', async () => {
    expect(await failureOf(respond(THREE, { turn: 4 }))).toEqual({
      class: 'script_exhausted',
      retryable: false,
      detail:
        'The script has 3 turns and turn 4 was asked for. Add an entry to `turns`, or end the conversation earlier.',
    });
  });

  test('errors at the end of the script → they come first, then script_exhausted', async () => {
    const script = 'turns: [{ text: a }, { error: { status: 401 } }]';
    expect((await failureOf(respond(script, { turn: 2 }))).class).toBe('unauthenticated');
    expect((await failureOf(respond(script, { turn: 2, tryNumber: 2 }))).class).toBe('script_exhausted');
  });

  test('no script at all → script_invalid', async () => {
    expect((await failureOf(model.respond(modelRequest(), callOptions()))).class).toBe('script_invalid');
  });

  test('a summary call → the summary of its number; past the end → script_exhausted', async () => {
    const script = 'turns: []\nsummaries: [first, second]';
    expect((await respond(script, { turn: 30, summary: 2 })).content).toEqual([{ type: 'text', text: 'second' }]);
    const { class: failureClass, detail } = await failureOf(respond(script, { turn: 30, summary: 3 }));
    expect(failureClass).toBe('script_exhausted');
    expect(detail).toContain('The script has 2 summaries and summary 3 was asked for.');
  });

  test('more scripts than are kept parsed → each still plays its own', async () => {
    const scripts = Array.from({ length: 12 }, (_, i) => `turns: [{ text: "${i}" }]`);
    for (const [i, script] of [...scripts.entries(), ...scripts.entries()]) {
      expect((await respond(script)).content).toEqual([{ type: 'text', text: String(i) }]);
    }
  });
});

describe('what an entry becomes', () => {
  test('calls without ids → ids by turn and position; given ids and names stay as they are', async () => {
    const response = await respond(THREE, { turn: 3 });
    expect(response.content).toEqual([
      { type: 'tool_use', id: 'toolu_3_1', name: 'bash', input: { command: 'ls' } },
      { type: 'tool_use', id: 'a b', name: '', input: {} },
    ]);
    expect(response.stopReason).toBe('tool_use');
  });

  test('usage is given → it; absent → the same estimate each time', async () => {
    const given = await respond('turns: [{ text: a, usage: { input: 12, cacheRead: 3 } }]');
    expect(given.usage).toEqual({ input: 12, output: 0, cacheRead: 3, cacheWrite: 0 });
    const first = await respond('turns: [{ text: a }]');
    const second = await createScriptedModel().respond(modelRequest({ script: 'turns: [{ text: a }]' }), callOptions());
    expect(first.usage).toEqual(second.usage);
    expect(first.usage.output).toBe(7);
  });

  test('a delay → the text comes in pieces before the answer, which takes that long', async () => {
    const options = callOptions();
    const startedAt = Date.now();
    await respond('turns: [{ text: "one two three four", delayMs: 120 }]', {}, options);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(115);
    expect(options.texts.length).toBeGreaterThan(3);
    expect(options.texts.join('')).toBe('one two three four');
  });
});

describe('expected results', () => {
  const script = 'turns: [{ text: ok, expect: { lastResults: ["sum of two", "!ENOENT"] } }]';

  test('they came → the answer', async () => {
    const response = await respond(script, { messages: results('✔ other', '✔ sum of two') });
    expect(response.content).toEqual([{ type: 'text', text: 'ok' }]);
  });

  test('one is missing and a forbidden one came → script_expectation that shows both and what came', async () => {
    expect(await failureOf(respond(script, { messages: results('ENOENT: sum.js') }))).toEqual({
      class: 'script_expectation',
      retryable: false,
      detail:
        'Turn 1 of the script expected the results just received to contain "sum of two" and not to contain "ENOENT". They were:\nENOENT: sum.js',
    });
  });

  test('there are no results → script_expectation that says so', async () => {
    const { detail } = await failureOf(respond(script));
    expect(detail).toBe(
      'Turn 1 of the script expected the results just received to contain "sum of two". There were none.',
    );
  });

  test('long results → cut, with the number of characters left out', async () => {
    const { detail } = await failureOf(respond(script, { messages: results('x'.repeat(5000)) }));
    expect(detail.length).toBeLessThan(800);
    expect(detail).toContain('… (4400 more characters)');
  });

  test('results of an earlier turn only → they do not count', async () => {
    const messages: Message[] = [
      ...results('sum of two'),
      { role: 'assistant', id: 'bbbbbbbbbbbb', content: [{ type: 'text', text: 'hm' }] },
      userText('go on'),
    ];
    expect((await failureOf(respond(script, { messages }))).class).toBe('script_expectation');
  });
});
