import { z } from 'zod';
import { BUILTIN_TOOLS } from '../../src/tools/builtin-tools';
import { createToolRegistry } from '../../src/tools/registry';
import { defineTool } from '../../src/tools/tool';

const tool = (name: string) =>
  defineTool({
    name,
    description: name,
    schema: z.object({ deep: z.object({ a: z.string().optional() }).optional() }),
    effect: 'read',
    summarize: () => name,
    run: async () => ({ text: name }),
  });

test('the ten tools, their arguments and effects', () => {
  const registry = createToolRegistry(BUILTIN_TOOLS);
  const seen = registry.definitions().map(({ name, inputSchema }) => {
    const properties = Object.keys(inputSchema['properties'] as object);
    return [name, registry.get(name)?.effect, properties.join(' '), (inputSchema['required'] as string[]).join(' ')];
  });
  expect(seen).toEqual([
    ['bash', 'write', 'command timeout_s cwd read_only background', 'command'],
    ['bash_kill', 'read', 'id', 'id'],
    ['bash_output', 'read', 'id offset wait_s', 'id'],
    ['edit_file', 'write', 'path old_string new_string replace_all', 'path old_string new_string'],
    ['glob', 'read', 'pattern path', 'pattern'],
    ['grep', 'read', 'pattern path glob', 'pattern'],
    ['list_files', 'read', 'path', ''],
    ['read_file', 'read', 'path offset limit byte', 'path'],
    ['todo_write', 'read', 'todos', 'todos'],
    ['write_file', 'write', 'path content', 'path content'],
  ]);
});

test('definitions → strict at every level: required is an array, nothing beside the names', () => {
  expect(createToolRegistry([tool('t')]).definitions()).toEqual([
    {
      name: 't',
      description: 't',
      inputSchema: {
        type: 'object',
        properties: {
          deep: { type: 'object', properties: { a: { type: 'string' } }, required: [], additionalProperties: false },
        },
        required: [],
        additionalProperties: false,
      },
    },
  ]);
});

test('definitions → the same order whatever the order of registration', () => {
  const names = (tools: readonly string[]) =>
    createToolRegistry(tools.map(tool))
      .definitions()
      .map(({ name }) => name);
  expect(names(['b', 'a', 'c'])).toEqual(['a', 'b', 'c']);
  expect(names(['c', 'b', 'a'])).toEqual(['a', 'b', 'c']);
});

test('a name that is taken, or twice in one go → refused, and nothing of that go is registered', () => {
  const registry = createToolRegistry([tool('a')]);
  expect(() => registry.register(tool('b'), tool('a'))).toThrow('There is already a tool named "a"');
  expect(() => registry.register(tool('c'), tool('c'))).toThrow('There is already a tool named "c"');
  expect(registry.names()).toEqual(['a']);
});

test.each(['', 'a b', 'a.b', 'x'.repeat(65), 'ä'])('%j → no tool name', (name) => {
  expect(() => createToolRegistry([tool(name)])).toThrow('is no tool name');
});

test('get, exists, unregister, clear; names of Object’s own properties are ordinary', () => {
  const registry = createToolRegistry([tool('a'), tool('b')]);
  expect(['a', '__proto__', 'constructor', 'A'].map((name) => registry.exists(name))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(registry.get('toString')).toBeUndefined();
  registry.register(tool('__proto__'));
  expect(registry.get('__proto__')?.description).toBe('__proto__');
  expect([registry.unregister('a'), registry.unregister('a')]).toEqual([true, false]);
  registry.clear();
  expect(registry.definitions()).toEqual([]);
});
