import { createToolRegistry } from '../../src/tools/registry';
import { submitResultTool } from '../../src/tools/submit-result';
import { todoWriteTool } from '../../src/tools/todo-write';
import type { ToolContext } from '../../src/tools/tool';

const SCHEMA = {
  type: 'object',
  properties: { verdict: { enum: ['ok', 'broken'] }, count: { type: 'integer', minimum: 1 } },
  required: ['verdict'],
  additionalProperties: false,
};

/** Neither tool looks at the world. */
const NO_WORLD = {} as ToolContext;

test('an answer that the schema accepts → accepted', async () => {
  const tool = submitResultTool(SCHEMA);

  expect(await tool.run({ verdict: 'ok', count: 2 }, NO_WORLD)).toEqual({ text: 'Accepted.' });
});

test.each([
  [{}, "- the input must have required property 'verdict'"],
  [{ verdict: 'maybe' }, '- /verdict must be equal to one of the allowed values: ["ok","broken"]'],
  [{ verdict: 'ok', count: 0 }, '- /count must be >= 1'],
  [{ verdict: 'ok', more: 1 }, '- the input must NOT have additional properties: "more"'],
])('%j → what is wrong, for the model', async (input, problem) => {
  expect(await submitResultTool(SCHEMA).run(input, NO_WORLD)).toEqual({
    text: `Not accepted; correct this and call it again:\n${problem}`,
    isError: true,
  });
});

test('the model is shown the schema as it is, also one of the newer drafts', async () => {
  const newer = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...SCHEMA,
    prefixItems: [{ type: 'string' }],
  };
  const registry = createToolRegistry([submitResultTool(newer)]);

  expect(registry.definitions()).toMatchObject([{ name: 'submit_result', inputSchema: newer }]);
  expect(await submitResultTool(newer).run({ verdict: 'ok' }, NO_WORLD)).toEqual({ text: 'Accepted.' });
});

test('the plan in one line: how much is done, and what is done now', () => {
  const todos = [
    { text: 'look', status: 'completed' as const },
    { text: 'change it', status: 'in_progress' as const },
    { text: 'test it', status: 'pending' as const },
  ];

  expect(todoWriteTool.summarize({ todos })).toBe('1 of 3 done, now: change it');
  expect(todoWriteTool.summarize({ todos: todos.slice(0, 1) })).toBe('1 of 1 done');
});
