import fc from 'fast-check';
import { existsSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkspaceFiles } from '../../src/workspace/files';
import { createToolBench } from '../tools/tool-bench';
import type { ToolBench } from '../tools/tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
  bench.sh('echo secret > ../outside/p');
});
afterEach(() => {
  bench.close();
});

/** Every file tool on one path. */
const callsOn = (path: string): [string, Record<string, unknown>][] => [
  ['read_file', { path }],
  ['write_file', { path, content: 'x' }],
  ['edit_file', { path, old_string: 'secret', new_string: 'x' }],
  ['list_files', { path }],
  ['glob', { pattern: '*', path }],
  ['grep', { pattern: 'secret', path }],
];

async function expectRefused(path: string): Promise<void> {
  for (const [name, input] of callsOn(path)) {
    const result = await bench.call(name, input);
    expect([name, path, result.status]).toEqual([name, path, 'failed']);
    expect(result.message).not.toContain('secret\n');
  }
}

test('a link to a directory outside → every tool refuses, nothing is made or shown', async () => {
  bench.sh('ln -s ../outside l');
  for (const path of ['l', 'l/p', 'l/x', 'l/new/dir/x']) await expectRefused(path);
  expect(readdirSync(bench.outside)).toEqual(['p']);
  expect((await bench.call('grep', { pattern: 'secret' })).message).toBe('No matches.');
  expect((await bench.call('glob', { pattern: 'l/*' })).message).toBe('No files match.');
});

test('a link to a file outside, or to nothing → refused, also for writing', async () => {
  bench.sh('ln -s ../outside/p notes.md; ln -s ../outside/none d; ln -s none inside-none');
  await expectRefused('notes.md');
  await expectRefused('d');
  await expectRefused('inside-none');
  expect(readFileSync(join(bench.outside, 'p'), 'utf8')).toBe('secret\n');
  expect(readdirSync(bench.outside)).toEqual(['p']);
});

test('a sibling with the same beginning → refused, by every spelling', async () => {
  bench.sh('mkdir ../work2 sub; echo secret > ../work2/x');
  const spellings = [
    '../work2/x',
    `${bench.workspace}2/x`,
    'sub/../../work2/x',
    '/proc/self/root/etc/passwd',
    '/etc/passwd',
  ];
  for (const path of spellings) await expectRefused(path);
});

test.each(['', 'a\0b', '\ud800', 'x'.repeat(5000), '..', 'a/../b'])('no proper path: %j → refused', async (path) => {
  await expectRefused(path);
});

test('a link inside, the workspace by a link, absolute paths by both names → allowed', async () => {
  bench.sh('mkdir real; ln -s real mem; ln -s work ../alias');
  expect((await bench.call('write_file', { path: 'mem/a.md', content: 'x' })).details?.filesChanged).toEqual([
    'real/a.md',
  ]);
  const alias = join(bench.workspace, '..', 'alias');
  const files = createWorkspaceFiles(alias);
  expect(files.directory).toBe(bench.workspace);
  expect(await files.resolve(`${alias}/mem/a.md`)).toBe('real/a.md');
  expect(await files.resolve(`${bench.workspace}/mem/a.md`)).toBe('real/a.md');
  expect(await files.resolve(bench.workspace)).toBe('.');
});

test('a directory that becomes a link while the tool walks → nothing outside is read or written', async () => {
  bench.sh('mkdir d; echo inside > d/p');
  const files = createWorkspaceFiles(bench.workspace);
  // Swaps the directory and a link outside for one another, as fast as it can.
  const swapper = bench.runner;
  const swap = `python3 -c "
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
os.symlink('${bench.outside}', 'e')
end = time.time() + 1.5
while time.time() < end: libc.renameat2(-100, b'd', -100, b'e', 2)
"`;
  const command = await swapper.start({ callId: 'swap', command: swap, timeoutMs: 10_000 });
  let reads = 0;
  let refused = 0;
  while ((await swapper.poll(command)).running) {
    for (let n = 0; n < 20; n += 1) {
      const [read] = await Promise.allSettled([
        files.read('d/p', { maxBytes: 100 }),
        files.write('d/x', Buffer.from('x')),
      ]);
      if (read.status === 'rejected') refused += 1;
      else {
        reads += 1;
        expect(Buffer.from(read.value.bytes).toString()).toBe('inside\n');
      }
    }
  }
  expect(reads).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
  expect(readdirSync(bench.outside)).toEqual(['p']);
});

test.each([
  '.git/hooks/pre-commit',
  '.git/config',
  '.GIT/hooks/x',
  '.Git/config',
  '.g\u200bit/config',
  '.git./config',
  '.git /hooks/x',
  'sub/.git/config',
  '.git/modules/m/config',
  'sub/.git',
  'alias/config',
])('protected path %s → no tool writes it, in any mode', async (path) => {
  bench.sh('git init -q .; mkdir -p sub .git/modules/m; ln -s .git alias');
  const before = bench.sh('find . -type f | sort | xargs sha1sum');
  const files = createWorkspaceFiles(bench.workspace);
  await expect(files.write(path, Buffer.from('x'))).rejects.toThrow('is protected');
  expect((await bench.call('write_file', { path, content: 'x' })).status).toBe('failed');
  expect(bench.sh('find . -type f | sort | xargs sha1sum')).toBe(before);
});

test('.gitattributes → asks', async () => {
  expect((await bench.call('write_file', { path: '.gitattributes', content: '* filter=x' })).status).toBe(
    'need_confirm',
  );
  expect(existsSync(join(bench.workspace, '.gitattributes'))).toBe(false);
});

test('names that only look protected → written', async () => {
  for (const path of ['config', '.github/config', 'hooks/x', '.gitignore', 'git/config']) {
    expect(await bench.call('write_file', { path, content: 'x' })).toMatchObject({ status: 'success' });
  }
});

test('property: no path whatever reads the file outside', async () => {
  bench.sh('mkdir -p a/b; ln -s ../../outside a/out; ln -s / root; echo hi > a/f');
  symlinkSync(bench.outside, join(bench.workspace, 'abs'));
  const files = createWorkspaceFiles(bench.workspace);
  const component = fc.constantFrom(
    'a',
    'b',
    'out',
    'root',
    'abs',
    'p',
    '..',
    '.',
    '',
    'f',
    'outside',
    'tmp',
    bench.outside,
    bench.workspace,
  );
  const path = fc.array(component, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'));
  await fc.assert(
    fc.asyncProperty(path, async (candidate) => {
      const read = await files.read(candidate, { maxBytes: 1000 }).catch(() => undefined);
      return read === undefined || Buffer.from(read.bytes).toString() === 'hi\n';
    }),
    { numRuns: 500 },
  );
});

test('property: a path that leads outside is refused by all tools alike, and nothing outside is made', async () => {
  bench.sh(
    'mkdir -p a/b; ln -s ../../outside a/out; ln -s / root; ln -s ../outside/p file; ln -s ../outside/none none',
  );
  const before = bench.sh('find ../outside | sort; cat ../outside/p');
  const way = fc.constantFrom(
    'a/out',
    '../outside',
    'root/tmp',
    'root',
    bench.outside,
    'a/../..',
    `${bench.workspace}2`,
    'a/b/../../..',
  );
  const rest = fc.constantFrom('', '/p', '/x', '/new/x', '/.', '//p');
  const outside = fc.oneof(
    fc.tuple(way, rest).map((parts) => parts.join('')),
    fc.constantFrom('file', 'none', './file'),
  );
  await fc.assert(
    fc.asyncProperty(outside, fc.nat(6), async (path, which) => {
      const [name, input] = [...callsOn(path), ['bash', { command: 'touch P', cwd: path }] as const][which]!;
      const result = await bench.call(name, input);
      return result.status === 'failed' && !result.message.includes('secret\n');
    }),
    { numRuns: 80 },
  );
  expect(bench.sh('find ../outside | sort; cat ../outside/p')).toBe(before);
  expect(existsSync(join(bench.workspace, 'P'))).toBe(false);
});
