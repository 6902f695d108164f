import { parseScript } from '../../../src/model/scripted/script';
import { thrownFailure } from '../../support/port-failure';

const EXAMPLE = `# a scripted model: one entry per model call, in order. Running out is a clear failure.
turns:
  - text: Let me look at the test first.
    calls:
      - { name: read_file, input: { path: test/sum.test.js } }
      - { id: toolu_x, name: grep, input: { pattern: "sum\\\\(" } }     # id optional
  - calls: [{ name: bash, input: { command: "node --test" } }]
    expect: { lastResults: ["sum of two", "!ENOENT"] }                # optional
    usage: { input: 1200, output: 80, cacheRead: 0, cacheWrite: 0 }    # optional
  - { error: { status: 529, type: overloaded_error, times: 2 } }       # optional
  - { text: Done., stop: end_turn, delayMs: 0 }
summaries: [one, two]
`;

test('the documented example → its turns, the error before the third, the summaries', () => {
  expect(parseScript(EXAMPLE)).toEqual({
    turnCount: 3,
    summaries: ['one', 'two'],
    calls: [
      {
        failures: [],
        turn: {
          text: 'Let me look at the test first.',
          calls: [
            { name: 'read_file', input: { path: 'test/sum.test.js' } },
            { id: 'toolu_x', name: 'grep', input: { pattern: 'sum\\(' } },
          ],
          delayMs: 0,
        },
      },
      {
        failures: [],
        turn: {
          calls: [{ name: 'bash', input: { command: 'node --test' } }],
          expect: { lastResults: ['sum of two', '!ENOENT'] },
          usage: { input: 1200, output: 80, cacheRead: 0, cacheWrite: 0 },
          delayMs: 0,
        },
      },
      {
        failures: [{ status: 529, type: 'overloaded_error', times: 2 }],
        turn: { text: 'Done.', stop: 'end_turn', delayMs: 0 },
      },
    ],
  });
});

test('errors at the end of a script → a last call without an answer', () => {
  expect(parseScript('turns: [{ text: a }, { error: { status: 401 } }]')).toMatchObject({
    turnCount: 1,
    calls: [{ failures: [] }, { failures: [{ status: 401, times: 1 }] }],
  });
});

test.each([
  ['no YAML at all', 'turns: [{', 'line 1: '],
  ['two keys of one name', 'turns:\n  - text: a\n    text: b\n', 'line 3: Map keys must be unique'],
  ['a text', 'hello', 'line 1: the script: Invalid input: expected object, received string'],
  ['an empty text', '', 'the script: Invalid input: expected object, received null'],
  ['no turns', 'summaries: []\n', 'line 1: turns: Invalid input: expected array, received undefined'],
  ['turns that are no list', '\nturns: 3\n', 'line 2: turns: Invalid input: expected array, received number'],
  ['an unknown key at the top', 'turns: []\nturn: []\n', 'line 1: the script: Unrecognized key: "turn"'],
  [
    'an unknown key in a turn',
    'turns:\n  - text: a\n  - text: b\n    expects: {}\n',
    'line 3: turns[1]: Unrecognized key: "expects"',
  ],
  [
    'a number as text',
    'turns:\n  - text: a\n  - text: 42\n',
    'line 3: turns[1].text: Invalid input: expected string, received number',
  ],
  [
    'a call without a name',
    'turns:\n  - calls:\n      - { name: a }\n      - { input: {} }\n',
    'line 4: turns[0].calls[1].name: Invalid input: expected string, received undefined',
  ],
  ['an empty entry', 'turns:\n  -\n', 'turns[0]: Invalid input: expected object, received null'],
  [
    'a turn without an answer',
    'turns:\n  - { stop: end_turn }\n',
    'line 2: turns[0]: a turn needs `text`, `calls` or `content`',
  ],
  [
    'content beside text',
    'turns:\n  - { text: a, content: [] }\n',
    'line 2: turns[0]: `content` stands for `text` and `calls`',
  ],
  ['a content block without a type', 'turns:\n  - content: [{ text: a }]\n', 'line 2: turns[0].content[0].type: '],
  [
    'an error that says nothing',
    'turns:\n  - { error: {} }\n',
    'line 2: turns[0].error: an error needs `status` or `type`',
  ],
  ['an error that never happens', 'turns:\n  - error: { status: 500, times: 0 }\n', 'line 2: turns[0].error.times: '],
  ['a negative delay', 'turns:\n  - { text: a, delayMs: -1 }\n', 'line 2: turns[0].delayMs: '],
  [
    'an input that is no JSON',
    'turns:\n  - calls: [{ name: a, input: { x: .nan } }]\n',
    'line 2: turns[0].calls[0].input',
  ],
  ['an alias of nothing', 'turns: *x\n', 'Unresolved alias'],
])('%s → script_invalid that names the line and the fault', async (_, source, fault) => {
  const failure = await thrownFailure(() => parseScript(source));
  expect(failure).toMatchObject({ class: 'script_invalid', retryable: false });
  expect(failure.detail).toContain("The scripted model's script is not valid: ");
  expect(failure.detail).toContain(fault);
});

test('many faults → the first five and how many more', async () => {
  const source = `turns:\n${'  - { text: 1 }\n'.repeat(9)}`;
  const { detail } = await thrownFailure(() => parseScript(source));
  expect(detail.match(/line \d+/g)).toEqual(['line 2', 'line 3', 'line 4', 'line 5', 'line 6']);
  expect(detail).toContain('; and 4 more.');
});

test('a script over 512 KB → script_invalid', async () => {
  const { detail } = await thrownFailure(() => parseScript(`turns: [{ text: ${'x'.repeat(525_000)} }]`));
  expect(detail).toBe("The scripted model's script is not valid: it is larger than 512 KB.");
});

test('aliases that multiply → script_invalid, not a full memory', async () => {
  const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`);
  const source = `l0: &l0 [x]\n${levels.join('\n')}\nturns: *l9\n`;
  expect((await thrownFailure(() => parseScript(source))).class).toBe('script_invalid');
});
