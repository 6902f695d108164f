import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../src/config-value';
import { loadToolModules } from '../src/tool-modules';
import { BUILTIN_TOOLS } from '../src/tools/builtin-tools';
import { tempDirectory, removeTempDirectories } from './support/temp-directory';

const requireFrom = createRequire(__filename);
/** What `import()` answers for a CommonJS module; jest cannot import by itself. */
const load = (file: string): Promise<unknown> => Promise.resolve({ default: requireFrom(file) });

afterAll(removeTempDirectories);

async function module(text: string, name = 'tools.js'): Promise<{ name: string; file: string }> {
  const file = path.join(await tempDirectory('tools'), name);
  writeFileSync(file, text);
  return { name: './tools.js', file };
}

const spec = (name: string, more = '') =>
  `{ name: '${name}', description: 'd', input: z.object({}), effect: 'read', execute: () => 'x', ${more} }`;
const names = async (...texts: readonly string[]) => {
  const modules = await Promise.all(texts.map((text) => module(text)));
  return (await loadToolModules(modules, BUILTIN_TOOLS, load)).map(({ name }) => name);
};

test.each([
  ['a function that makes one', `module.exports = ({ defineTool, z }) => defineTool(${spec('one')})`, ['one']],
  ['a function that makes a list, later', `module.exports = async ({ z }) => [${spec('a')}, ${spec('b')}]`, ['a', 'b']],
  [
    'what a compiler made of an ES module',
    `exports.__esModule = true; exports.default = ({ z }) => (${spec('one')})`,
    ['one'],
  ],
  [
    'named exports beside other things',
    `const { z } = require('${require.resolve('zod')}');
     module.exports = { one: ${spec('one')}, list: [${spec('two')}], helper: () => { throw new Error() }, n: 1, o: {} }`,
    ['one', 'two'],
  ],
])('a module that exports %s → its tools', async (_what, text, expected) => {
  expect(await names(text)).toEqual(expected);
});

const make = (value: string) => `module.exports = ({ z }) => (${value})`;

test.each([
  ['no tool', 'module.exports = { helper() {} }', /^The tool module \S+tools\.js exports no tool\. Export what/],
  ['a syntax error', 'module.exports = {', /^The tool module \S+tools\.js cannot be loaded: .*[Uu]nexpected/],
  ['an error when it loads', 'throw new Error("no database\\nat all")', /cannot be loaded: no database$/],
  [
    'a bad name',
    make(spec('has space')),
    /^The tool "has space" of the module \S+ is not usable: `name` must be 1 to 64/,
  ],
  ['no name', make(`{ description: 'd', effect: 'read' }`), /^A tool of the module \S+ is not usable: `name` must be/],
  ['no description', make(spec('t', "description: ''")), /`description` must say what the tool does\.$/],
  ['an input that is no zod object', make(spec('t', 'input: { path: "string" }')), /`input` must be a zod object/],
  ['an input without a JSON schema', make(spec('t', 'input: z.object({ d: z.date() })')), /has no JSON schema: /],
  ['another effect', make(spec('t', "effect: 'delete'")), /`effect` must be "read" or "write"\.$/],
  ['no execute', make(spec('t', 'execute: undefined')), /`execute` must be a function\.$/],
  ['a misspelt key', make(spec('t', 'sumary: () => 1')), /Unrecognized key: "sumary"\.$/],
  [
    'the name of a built-in tool',
    make(spec('bash')),
    /^There are two tools named "bash": one of the built-in tools, one of \S+tools\.js\./,
  ],
  ['one name twice', make(`[${spec('t')}, ${spec('t')}]`), /^There are two tools named "t": one of (\S+), one of \1\./],
])('%s → ConfigError in one sentence that names module and fault', async (_what, text, message) => {
  const loading = names(text);
  await expect(loading).rejects.toThrow(ConfigError);
  await expect(loading).rejects.toThrow(message);
});

test('the same name in two modules → both are named', async () => {
  const [one, two] = [await module(make(spec('t'))), await module(make(spec('t')))];
  await expect(loadToolModules([one, two], BUILTIN_TOOLS, load)).rejects.toThrow(
    `There are two tools named "t": one of ${one.file}, one of ${two.file}. Give one of them another name.`,
  );
});

test('a file that is not there → says so, before anything is loaded', async () => {
  await expect(loadToolModules([{ name: './x.js', file: '/nowhere/x.js' }], [], load)).rejects.toThrow(
    'The tool module /nowhere/x.js is not there. Look at its path.',
  );
});

test('a package that is not installed → says so', async () => {
  await expect(loadToolModules([{ name: 'no-such-package' }], [], load)).rejects.toThrow(
    'The tool module no-such-package cannot be found. Install the package, or name a file by its path.',
  );
});
