import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCallJournal } from '../../src/workspace/call-journal';
import type { CallIntent, CallJournal } from '../../src/workspace/call-journal';
import { callFiles } from '../../src/workspace/command-files';
import { createWorkspaceFiles } from '../../src/workspace/files';
import { createToolBench } from '../tools/tool-bench';
import type { ToolBench } from '../tools/tool-bench';

let bench: ToolBench;
let journal: CallJournal<{ readonly text: string }>;
beforeEach(() => {
  bench = createToolBench();
  journal = createCallJournal({
    stateDirectory: bench.state,
    server: 'test',
    files: createWorkspaceFiles(bench.workspace),
    runner: bench.runner,
  });
});
afterEach(() => {
  bench.close();
});

const intent = (kind: CallIntent['kind']): CallIntent => ({ tool: 't', kind, digest: 'v1:0' });
const directoryOf = (key: string): string => callFiles(bench.state, key).directory;

/** As if the worker that began the call were dead, and (perhaps) the machine had been started again since. */
function orphan(key: string, change: Record<string, unknown> = {}): void {
  const dead = spawnSync('/bin/true').pid;
  const path = join(directoryOf(key), 'intent.json');
  const record = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify({ ...record, owner: { pid: dead, startTime: '1' }, ...change }));
}

test('a call that never began → none', async () => {
  expect(await journal.lookup('wf/x')).toEqual({ state: 'none' });
});

test('begun twice, also at once → once true; the owner is told', async () => {
  const begun = await Promise.all(Array.from({ length: 10 }, async () => await journal.begin('wf/a', intent('other'))));
  expect(begun.filter(Boolean)).toHaveLength(1);
  expect(await journal.lookup('wf/a')).toMatchObject({ state: 'owned', owner: { pid: process.pid } });
});

test('a recorded result → the first one, for ever', async () => {
  await journal.begin('wf/a', intent('other'));
  await journal.record('wf/a', { text: 'one' });
  await journal.record('wf/a', { text: 'two' });
  orphan('wf/a', { bootId: 'another' });
  expect(await journal.lookup('wf/a')).toMatchObject({ state: 'recorded', result: { text: 'one' } });
});

test('a call of unknown kind whose worker died → unknown', async () => {
  await journal.begin('wf/a', intent('other'));
  orphan('wf/a');
  expect(await journal.lookup('wf/a')).toMatchObject({ state: 'unknown' });
});

describe('commands', () => {
  test('begun, worker dead, no supervisor → not started; after a power loss → unknown', async () => {
    await journal.begin('wf/a', intent('command'));
    orphan('wf/a');
    expect(await journal.lookup('wf/a')).toMatchObject({ state: 'not_started' });
    orphan('wf/a', { bootId: 'another' });
    expect(await journal.lookup('wf/a')).toMatchObject({ state: 'unknown' });
  });

  test('worker dead, supervisor alive → running; when it has ended → ended with its outcome', async () => {
    await journal.begin('wf/a', intent('command'));
    await bench.runner.start({
      callId: 'wf/a',
      command: 'until test -e go; do sleep 0.02; done; exit 5',
      timeoutMs: 20_000,
    });
    orphan('wf/a');
    expect(await journal.lookup('wf/a')).toMatchObject({ state: 'running', command: { callId: 'wf/a' } });
    bench.put('go', '');
    let found = await journal.lookup('wf/a');
    while (found.state === 'running') found = await journal.lookup('wf/a');
    expect(found).toMatchObject({ state: 'ended', outcome: { end: 'exited', exitCode: 5 } });
  });

  test('supervisor killed too → unknown, and the command is dead', async () => {
    await journal.begin('wf/a', intent('command'));
    await bench.runner.start({ callId: 'wf/a', command: 'touch begun; sleep 600', timeoutMs: 20_000 });
    while (!existsSync(join(bench.workspace, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 3));
    process.kill(Number(readFileSync(join(directoryOf('wf/a'), 'supervisor'), 'utf8').split(' ')[0]), 'SIGKILL');
    orphan('wf/a');
    expect(await journal.lookup('wf/a')).toMatchObject({ state: 'unknown', command: { callId: 'wf/a' } });
  });
});

describe('files', () => {
  const write = async (text: string): Promise<unknown> =>
    await journal.filesOf('wf/a').write('f.txt', Buffer.from(text));

  test.each([
    ['nothing was written yet', async (): Promise<unknown> => undefined, 'not_started'],
    ['the write happened', async (): Promise<unknown> => await write('new'), 'applied'],
    [
      'the digests were noted, the write did not happen',
      async () => {
        await write('new');
        bench.put('f.txt', 'old');
      },
      'not_started',
    ],
    [
      'somebody else wrote since',
      async () => {
        await write('new');
        bench.put('f.txt', 'theirs');
      },
      'unknown',
    ],
  ] as const)('%s → %s', async (_, happened, state) => {
    bench.put('f.txt', 'old');
    await journal.begin('wf/a', intent('file'));
    await happened();
    orphan('wf/a', { bootId: 'another' });
    expect((await journal.lookup('wf/a')).state).toBe(state);
  });

  test('a file that was to be made and was not → not started', async () => {
    await journal.begin('wf/a', intent('file'));
    await write('new');
    bench.sh('rm f.txt');
    orphan('wf/a');
    expect((await journal.lookup('wf/a')).state).toBe('not_started');
  });
});

test('a state directory that cannot be written → begin refuses in words, nothing is left', async () => {
  writeFileSync(join(bench.state, 'calls'), 'a file, not a directory');
  await expect(journal.begin('wf/a', intent('command'))).rejects.toThrow(
    /journal cannot be written \(\w+\): nothing was started/u,
  );
});

test('an entry → private to the user, and no temporary file stays', async () => {
  await journal.begin('wf/a', intent('other'));
  await journal.record('wf/a', { text: 'x' });
  expect(readdirSync(directoryOf('wf/a')).sort()).toEqual(['intent.json', 'result.json']);
  expect(bench.sh(`stat -c %a ${directoryOf('wf/a')} ${directoryOf('wf/a')}/intent.json`)).toBe('700\n600\n');
});

describe('a file of the entry lost its end', () => {
  /** As `truncate -s -7`: cut in the middle of what it says. */
  const cut = (key: string, name: string): void => {
    const file = join(directoryOf(key), name);
    truncateSync(file, Math.max(0, statSync(file).size - 7));
  };

  test.each([
    ['intent.json', 'other', 'unknown'],
    ['intent.json', 'command', 'unknown'],
    ['intent.json', 'file', 'applied'],
    ['write.json', 'file', 'unknown'],
  ] as const)('%s of kind %s → still an entry: %s', async (name, kind, state) => {
    bench.put('f.txt', 'old');
    await journal.begin('wf/a', intent(kind));
    if (kind === 'file') await journal.filesOf('wf/a').write('f.txt', Buffer.from('new'));
    orphan('wf/a');
    cut('wf/a', name);
    expect((await journal.lookup('wf/a')).state).toBe(state);
    expect(await journal.begin('wf/a', intent(kind))).toBe(false);
  });

  test.each([
    ['intent.json', 'ended', 'exited'],
    ['result.json', 'ended', 'exited'],
    ['start.json', 'ended', 'exited'],
    ['end', 'ended', 'exited'],
    ['status', 'ended', 'exited'],
    ['supervisor', 'ended', 'exited'],
    ['child', 'ended', 'exited'],
    ['reason', 'ended', 'exited'],
  ] as const)('%s of a command that has ended → %s, %s', async (name, state, end) => {
    await journal.begin('wf/a', intent('command'));
    const command = await bench.runner.start({ callId: 'wf/a', command: 'echo x >> ledger', timeoutMs: 20_000 });
    while ((await bench.runner.poll(command)).running) await new Promise((resolve) => setTimeout(resolve, 3));
    await journal.record('wf/a', { text: 'done' });
    orphan('wf/a');
    cut('wf/a', name);
    if (name !== 'result.json') rmSync(join(directoryOf('wf/a'), 'result.json'));
    expect(await journal.lookup('wf/a')).toMatchObject({ state, outcome: { end, exitCode: 0 } });
    expect(readFileSync(join(bench.workspace, 'ledger'), 'utf8')).toBe('x\n');
  });

  test('start.json or supervisor of a command that runs → no second start is possible and nothing says that it did not run', async () => {
    for (const name of ['start.json', 'supervisor']) {
      await journal.begin(name, intent('command'));
      await bench.runner.start({ callId: name, command: `touch ${name}.begun; sleep 607`, timeoutMs: 20_000 });
      while (!existsSync(join(bench.workspace, `${name}.begun`)))
        await new Promise((resolve) => setTimeout(resolve, 3));
      const supervisor = Number(readFileSync(join(directoryOf(name), 'supervisor'), 'utf8').split(' ')[0]);
      orphan(name);
      cut(name, name);
      const found = await journal.lookup(name);
      expect(found.state).toMatch(/^(?:running|unknown)$/u);
      await expect(bench.runner.start({ callId: name, command: 'true', timeoutMs: 1 })).rejects.toThrow(
        'started before',
      );
      if (found.state === 'running') process.kill(supervisor, 'SIGKILL');
    }
  });
});
