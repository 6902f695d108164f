import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { referencesOf } from './document-references';
import { REPOSITORY, SRC } from './read-sources';

/** Written in parts, or this file would break its own rule. */
const REGISTRY_HOSTS = [
  ['registry', 'npmjs', 'org'],
  ['registry', 'yarnpkg', 'com'],
  ['pypi', 'org'],
  ['pythonhosted', 'org'],
  ['proxy', 'golang', 'org'],
].map((parts) => parts.join('.'));
const MACHINE_PATHS = [
  /(?<![\w.])\/work\/\w/,
  /(?<![\w.])\/(?:home|Users)\/(?!(?:me|you|user|dev|someone|surehand)\b)\w/,
];

interface Finding {
  readonly file: string;
  readonly found: string;
}

/** Everything that is, or could be, committed: what is ignored is left out. */
function trackedFiles(): string[] {
  const output = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
    maxBuffer: 16_000_000,
  });
  return output.split('\0').filter((path) => path !== '' && isFile(path));
}

function isFile(path: string): boolean {
  return existsSync(join(REPOSITORY, path)) && statSync(join(REPOSITORY, path)).isFile();
}

function findPrivateText(file: string, text: string): Finding[] {
  const own = [REPOSITORY, ...(homedir().split('/').length > 2 ? [homedir()] : [])];
  const literals = [...REGISTRY_HOSTS, ...own].filter((literal) => text.includes(literal));
  const paths = MACHINE_PATHS.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
  return [...literals, ...paths].map((found) => ({ file, found }));
}

function documents(): string[] {
  return trackedFiles().filter((path) => /^([^/]+|docs\/.*)\.md$/.test(path));
}

function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

describe('the documents', () => {
  test('every path that they name exists', () => {
    const missing = documents().flatMap((file) =>
      referencesOf(read(file))
        .paths.filter((path) => !existsSync(join(REPOSITORY, path)))
        .map((path) => ({ file, path })),
    );
    expect(missing).toEqual([]);
  });

  test('every npm script that they name exists', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = documents().flatMap((file) => referencesOf(read(file)).scripts);
    expect(named).toContain('test');
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
  });

  test('every command of surehand that they name is one of the command line', () => {
    const commandLine = readdirSync(join(SRC, 'cli'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(SRC, 'cli', path), 'utf8'))
      .join('\n');
    const named = documents().flatMap((file) => referencesOf(read(file)).commands);
    const unknown = named.filter((command) => !new RegExp(`['"\`]${command}\\b`).test(commandLine));
    expect(unknown).toEqual([]);
  });

  test('what they name is found in prose and in blocks', () => {
    const markdown = [
      'See `src/workflows/agent.ts`, `src/cli/*.ts`, `docs/adr/`, `package.json` and `./scripts/setup.mjs:12`.',
      'Not ours: `AGENTS.md`, `/etc/passwd`, `node_modules`, `a/b.ts`. Run `npm run lint && npm test`.',
      '```console',
      '$ ./surehand run "fix it" --workspace examples/sample',
      'npm start -- down',
      '```',
    ].join('\n');
    expect(referencesOf(markdown)).toEqual({
      paths: ['src/workflows/agent.ts', 'src/cli', 'docs/adr', 'package.json', 'scripts/setup.mjs', 'examples/sample'],
      scripts: ['lint', 'test', 'start'],
      commands: ['run', 'down'],
    });
  });

  test('ADRs are numbered without a gap and each has its date, status and sections', () => {
    const names = readdirSync(join(REPOSITORY, 'docs/adr')).filter((name) => /^\d{4}-/.test(name));
    expect(names.length).toBeGreaterThan(0);
    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1));
    for (const name of names) {
      expect(read(`docs/adr/${name}`)).toMatch(
        /^# \d{4}: .+\n\nStatus: .+\n\n## Context\n.+\n## Decision\n.+\n## Consequences\n/s,
      );
    }
  });
});

describe('tracked files', () => {
  test('name no path of the machine they were made on and no registry host', () => {
    const files = trackedFiles();
    expect(files).toContain('package-lock.json');
    expect(files.flatMap((file) => findPrivateText(file, read(file)))).toEqual([]);
  });

  test('the lockfile resolves to no registry', () => {
    expect(read('package-lock.json')).not.toContain('"resolved"');
  });

  test.each([
    [`see ${['', 'work', 'elsewhere', 'x'].join('/')}`, [['', 'work', 'e'].join('/')]],
    [`cd ${['', 'home', 'ann', 'x'].join('/')}`, [['', 'home', 'a'].join('/')]],
    [`https://${['registry', 'npmjs', 'org'].join('.')}/zod`, [['registry', 'npmjs', 'org'].join('.')]],
    ['cd /home/you/project && cat /etc/passwd src/work/x', []],
  ])('%s → %j', (text, expected) => {
    expect(findPrivateText('a', text).map(({ found }) => found)).toEqual(expected);
  });
});
