import { readSources } from './read-sources';
import { checkSourceRules } from './source-rules';

function messages(path: string, text: string): string[] {
  return checkSourceRules([{ path, text }]).map(({ message }) => message);
}

test('src as it stands → every file keeps the rules', () => {
  expect(checkSourceRules(readSources())).toEqual([]);
});

describe('a broken rule is found', () => {
  test.each([
    ['cli/run.ts', 'export const x: any = 1;', "uses 'any'"],
    ['cli/run.ts', 'export default 1;', 'has a default export'],
    ['cli/run.ts', 'export default function run() {}', 'has a default export'],
    ['cli/run.ts', 'const x = 1; export { x as default };', 'has a default export'],
    ['cli/run.ts', 'export enum Colour { red }', 'declares an enum'],
    ['cli/run.ts', "export * from './list';", "has an 'export *'"],
    ['cli/run.ts', 'const x = 1 as unknown as string;', 'casts twice'],
    ['cli/run.ts', "const x = process.env['HOME'];", 'reads process.env outside config.ts'],
    ['cli/run.ts', "const x = process['env'];", 'reads process.env outside config.ts'],
    ['cli/run.ts', 'const { env } = process;', 'reads process.env outside config.ts'],
    ['cli/run.ts', "import { env } from 'node:process';", 'reads process.env outside config.ts'],
    ['cli/run.ts', 'const x = globalThis.process.env;', 'reads process.env outside config.ts'],
    ['client.ts', 'const home = process.env.HOME;', 'reads process.env outside config.ts'],
    [
      'client.ts',
      "import { loadConfig } from './config'; loadConfig(process.env['HOME']);",
      'reads process.env outside config.ts',
    ],
    [
      'client.ts',
      "import { spawn } from 'node:child_process'; spawn(command, { env: process.env });",
      'reads process.env outside config.ts',
    ],
    ['tools/bash.ts', 'const x = process.platform;', "uses 'process' in a tool"],
    ['cli/run.ts', 'f();\n'.repeat(301), 'has 301 lines, at most 300 are allowed'],
  ])('%s: %s', (path, text, expected) => {
    expect(messages(path, text)).toEqual([expected]);
  });
});

describe('what only looks like a broken rule passes', () => {
  test.each([
    ['config.ts', "export const home = process.env['SUREHAND_HOME'];"],
    ['client.ts', "import { loadConfig } from './config'; loadConfig(process.env);"],
    ['server/daemon-main.ts', "import { loadConfig } from '../config'; loadConfig({ env: process.env });"],
    ['cli/run.ts', "process.stdout.write('any default enum');"],
    ['tools/bash.ts', 'const x = context.process; const y = { process: 1 };'],
    ['cli/run.ts', 'f();\n'.repeat(300)],
  ])('%s: %s', (path, text) => {
    expect(messages(path, text)).toEqual([]);
  });
});
