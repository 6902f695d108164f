import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endBackground, hasBackground } from '../../src/workspace/background-commands';
import { createToolBench } from './tool-bench';
import type { ToolBench } from './tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
});
afterEach(async () => {
  await endBackground(bench.state, 'bench');
  bench.close();
});

const start = async (command: string, more: Record<string, unknown> = {}) =>
  await bench.call('bash', { command, background: true, ...more });
const output = async (id: string, more: Record<string, unknown> = {}) =>
  await bench.call('bash_output', { id, ...more });
const exists = (name: string): boolean => existsSync(join(bench.workspace, name));

test('a command in the background → an id and a log file at once; output by offset; end', async () => {
  const startedAt = performance.now();
  const started = await start('echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3');
  expect(performance.now() - startedAt).toBeLessThan(2000);
  expect(started.status).toBe('success');
  expect(started.message).toContain('Started in the background with the id "m-1".');
  expect(readFileSync(started.details!.outputFile!, 'utf8')).toBe('one\n');
  expect((await output('m-1')).message).toMatch(
    /^one\n\[m-1 runs since \d s; bytes 0-4 of 4; read on with offset 4\]$/u,
  );
  expect((await output('m-1', { offset: 4 })).message).toMatch(
    /^\[m-1 runs since \d s; no output from byte 4 on; read on/u,
  );
  // Files of the workspace can be changed beside it.
  await bench.call('write_file', { path: 'go', content: '' });
  expect((await output('m-1', { offset: 4, wait_s: 10 })).message).toMatch(/^two\n/u);
  const ended = await output('m-1', { wait_s: 10 });
  expect(ended.message).toBe('one\ntwo\n[m-1 has ended: exit code 3; bytes 0-8 of 8]');
  expect(ended).toMatchObject({ status: 'success', details: { exitCode: 3 } });
});

test('bash_kill → the whole tree ends; a second time says so', async () => {
  await start('(trap "" TERM; while :; do touch alive; sleep 0.02; done) & wait');
  while (!exists('alive')) await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await bench.call('bash_kill', { id: 'm-1' })).message).toContain('m-1 was ended: cancelled and killed');
  bench.sh('rm alive');
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(exists('alive')).toBe(false);
  expect((await bench.call('bash_kill', { id: 'm-1' })).message).toContain('m-1 had already ended');
});

test('a command that fails at once → reported like any other', async () => {
  const result = await start('echo broken >&2; exit 2');
  expect(result).toMatchObject({ status: 'failed', message: 'broken\n[exit code 2]' });
});

test('a deadline of its own → holds', async () => {
  await start('sleep 60', { timeout_s: 0.6 });
  expect((await output('m-1', { wait_s: 10 })).message).toContain('m-1 has ended: timed out and was killed');
});

test('another worker → finds the command, and takes up a call that was delivered again', async () => {
  await start('until [ -e go ]; do sleep 0.02; done; echo done');
  const found = bench.runner.find('bench\nm-1');
  const options = { signal: new AbortController().signal, maxBytes: 30_000, onProgress: () => undefined };
  const call = { callId: 'm-1', name: 'bash', input: { command: 'x', background: true } };
  expect((await bench.executor.resume(call, found!, options)).message).toContain('Started in the background');
  bench.put('go', '');
  expect((await output('m-1', { wait_s: 10 })).message).toContain('has ended: exit code 0');
});

test.each([['no-such'], ['../../x'], ['a\nm-1'], ['']])('id %j → refused, told apart from "no output"', async (id) => {
  for (const name of ['bash_output', 'bash_kill']) {
    const result = await bench.call(name, { id });
    expect(result.status).toBe('failed');
    expect(result.message).toContain('There is no command with the id');
  }
});

test("a finished command whose output was cut → the rest by the cut's own advice", async () => {
  const result = await bench.call('bash', { command: 'seq 1 3000' }, { maxBytes: 3000 });
  const [, id, offset] = /bash_output with id "([^"]+)" and offset (\d+) shows them/u.exec(result.message)!;
  let shown = result.message.slice(0, result.message.indexOf('\n[…'));
  expect(Buffer.byteLength(shown)).toBe(Number(offset));
  for (let from: string | undefined = offset, reads = 0; from !== undefined && reads < 20; reads += 1) {
    const { message } = (await output(id!, { offset: Number(from) })) as { message: string };
    shown += message.slice(0, message.lastIndexOf('\n[')) + '\n';
    from = /read on with offset (\d+)/u.exec(message)?.[1];
  }
  expect(shown.split('\n').filter((line) => line !== '')).toEqual(
    Array.from({ length: 3000 }, (_, n) => String(n + 1)),
  );
});

test('the end of the run → ends what runs in the background, by the notes alone', async () => {
  await start('while :; do touch alive; sleep 0.02; done');
  while (!exists('alive')) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await hasBackground(bench.state, 'bench')).toBe(true);
  await endBackground(bench.state, 'bench');
  bench.sh('rm -f alive');
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(exists('alive')).toBe(false);
  expect(await hasBackground(bench.state, 'bench')).toBe(false);
});

test('a foreground command with the time of a background one → refused by name', async () => {
  const result = await bench.call('bash', { command: 'touch P', timeout_s: 1801 });
  expect(result.message).toContain('`timeout_s` may be at most 1800');
  expect(exists('P')).toBe(false);
});
