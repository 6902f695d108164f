import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createToolBench } from './tool-bench';
import type { ToolBench } from './tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
});
afterEach(() => {
  bench.close();
});

const read = async (path: string, more: Record<string, unknown> = {}) =>
  await bench.call('read_file', { path, ...more });
const write = async (path: string, content: string) => await bench.call('write_file', { path, content });
const edit = async (path: string, oldText: string, newText: string) =>
  await bench.call('edit_file', { path, old_string: oldText, new_string: newText });

test.each([
  ['write_file', () => write('f.txt', 'mine\n')],
  ['edit_file', () => edit('f.txt', 'one', 'mine')],
])('%s of a file that somebody changed since it was read → refused until it is read again', async (_, change) => {
  bench.put('f.txt', 'one\n');
  await read('f.txt');
  bench.sh("printf 'theirs\\n' >> f.txt");
  expect(await change()).toMatchObject({
    status: 'failed',
    message: '"f.txt" changed since it was read; nothing was changed. Read it again, then decide what to write.',
  });
  expect(bench.bytes('f.txt').toString()).toBe('one\ntheirs\n');
  await read('f.txt');
  expect((await change()).status).toBe('success');
});

test('a change of the same length, with the old time set back → noticed: contents are compared', async () => {
  bench.put('f.txt', 'one\n');
  await read('f.txt');
  bench.sh('touch -r f.txt t; printf "two\\n" > f.txt; touch -r t f.txt');
  expect((await write('f.txt', 'mine\n')).status).toBe('failed');
});

test('a part was read, another part changed → refused; touched only, or rewritten with the same bytes → accepted', async () => {
  bench.put('f.txt', 'one\ntwo\n');
  await read('f.txt', { offset: 1, limit: 1 });
  bench.sh('touch f.txt; cp f.txt g; cat g > f.txt');
  expect((await edit('f.txt', 'one', 'ONE')).status).toBe('success');
  bench.sh("sed -i 's/two/2/' f.txt");
  expect((await edit('f.txt', 'ONE', 'x')).message).toContain('changed since it was read');
});

test('the file was deleted since it was read → refused; after a look that finds none it is written', async () => {
  bench.put('f.txt', 'one\n');
  await read('f.txt');
  bench.sh('rm f.txt');
  expect((await write('f.txt', 'mine\n')).message).toContain('"f.txt" was deleted since it was read');
  expect(existsSync(join(bench.workspace, 'f.txt'))).toBe(false);
  expect((await read('f.txt')).message).toContain('does not exist');
  expect((await write('f.txt', 'mine\n')).status).toBe('success');
});

test('the file was created since a look found none → refused', async () => {
  await read('new/f.txt');
  bench.sh('mkdir new; echo theirs > new/f.txt');
  expect((await write('new/f.txt', 'mine\n')).message).toContain('did not exist when it was looked at');
  expect(bench.bytes('new/f.txt').toString()).toBe('theirs\n');
});

test("the run's own changes by its file tools, by any name of the file → no reason to refuse", async () => {
  bench.put('f.txt', 'one\n');
  bench.sh('ln -s f.txt g.txt');
  await read('g.txt');
  expect((await edit('./f.txt', 'one', 'two')).status).toBe('success');
  expect((await write('g.txt', 'three\n')).status).toBe('success');
  expect((await edit('f.txt', 'three', 'four')).status).toBe('success');
  bench.sh('echo theirs > f.txt');
  expect((await write('g.txt', 'mine\n')).status).toBe('failed');
});

test('what a command of the run changed → refused as well: the model has not seen it', async () => {
  bench.put('f.txt', 'one\n');
  await read('f.txt');
  await bench.call('bash', { command: 'echo two > f.txt' });
  expect((await write('f.txt', 'mine\n')).status).toBe('failed');
});

test('a file that was never read → may be edited and overwritten', async () => {
  bench.put('f.txt', 'one\n');
  bench.put('g.txt', 'one\n');
  expect((await edit('f.txt', 'one', 'two')).status).toBe('success');
  expect((await write('g.txt', 'two\n')).status).toBe('success');
});
