import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callFiles } from '../../src/workspace/command-files';
import { createCommandRunner } from '../../src/workspace/command-runner';
import type { InspectableRunner } from '../../src/workspace/command-runner';
import type { CommandState, StartedCommand } from '../../src/workspace/ports';
import { findMarked, isAlive, readProcess } from '../../src/workspace/process-table';
import { findBwrap } from '../support/bwrap';

let base: string;
let workspace: string;
let state: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'surehand-runner-')));
  workspace = join(base, 'work');
  state = join(base, 'state');
  mkdirSync(workspace);
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const makeRunner = (mode: 'strict' | 'off'): InspectableRunner =>
  createCommandRunner({
    stateDirectory: state,
    workspace,
    sandbox: mode === 'off' ? { mode } : { mode, bwrapPath: findBwrap() },
    nodePath: process.execPath,
  });

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 3));
}

async function settle(runner: InspectableRunner, command: StartedCommand): Promise<CommandState> {
  let found = await runner.poll(command);
  await until(async () => !(found = await runner.poll(command)).running);
  return found;
}

const directoryOf = (callId: string): string => callFiles(state, callId).directory;
const markOf = (callId: string): string =>
  (JSON.parse(readFileSync(join(directoryOf(callId), 'start.json'), 'utf8')) as { marker: string }).marker;

function supervisorPid(callId: string): number {
  return Number(readFileSync(join(directoryOf(callId), 'supervisor'), 'utf8').split(' ')[0]);
}

describe.each(['strict', 'off'] as const)('a command under its supervisor, sandbox %s', (mode) => {
  test('the same key twice → started once, the second start is refused', async () => {
    const runner = makeRunner(mode);
    const spec = { callId: 'wf/a-1', command: 'echo x >> ledger', timeoutMs: 5000 };
    const results = await Promise.allSettled([runner.start(spec), runner.start(spec), makeRunner(mode).start(spec)]);
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    await settle(runner, { callId: 'wf/a-1', outputFile: '' });
    expect(readFileSync(join(workspace, 'ledger'), 'utf8')).toBe('x\n');
  });

  test('the worker that started it is killed → the command goes on, and another process sees it end', async () => {
    const script = `
      const { createCommandRunner } = require(${JSON.stringify(join(base, 'runner.js'))});
      createCommandRunner(${JSON.stringify({
        stateDirectory: state,
        workspace,
        sandbox: mode === 'off' ? { mode } : { mode, bwrapPath: findBwrap() },
        nodePath: process.execPath,
      })}).start({ callId: 'wf/b-1', command: 'until test -e go; do sleep 0.02; done; echo done; exit 7', timeoutMs: 20000 })
        .then(() => console.log('started'));
      setInterval(() => {}, 1000);`;
    bundleRunner(join(base, 'runner.js'));
    const worker = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => worker.stdout.once('data', resolve));
    const gone = new Promise((resolve) => worker.once('exit', resolve));
    worker.kill('SIGKILL');
    await gone;
    const runner = makeRunner(mode);
    const command = runner.find('wf/b-1');
    expect(await runner.poll(command!)).toMatchObject({ running: true });
    writeFileSync(join(workspace, 'go'), '');
    expect(await settle(runner, command!)).toMatchObject({ end: 'exited', exitCode: 7, outputBytes: 5 });
    expect(await runner.output(command!, { headBytes: 100, tailBytes: 100 })).toMatchObject({ head: 'done\n' });
  });

  test('the supervisor is killed in the middle → unknown, and nothing of it lives', async () => {
    const runner = makeRunner(mode);
    const command = await runner.start({ callId: 'wf/c-1', command: 'touch begun; sleep 600', timeoutMs: 60_000 });
    await until(() => existsSync(join(workspace, 'begun')));
    process.kill(supervisorPid('wf/c-1'), 'SIGKILL');
    expect(await settle(runner, command)).toMatchObject({ running: false, end: 'unknown' });
    expect(findMarked('SUREHAND_CALL', markOf('wf/c-1'))).toEqual([]);
  });

  test('a start that was barred before the supervisor began → not started, for ever', async () => {
    const runner = makeRunner(mode);
    const directory = directoryOf('wf/d-1');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'supervisor'), 'given-up\n');
    const command = await runner.start({ callId: 'wf/d-1', command: 'touch ran', timeoutMs: 5000 });
    expect(await settle(runner, command)).toMatchObject({ end: 'not_started' });
    await until(() => findMarked('SUREHAND_CALL', markOf('wf/d-1')).length === 0);
    expect(existsSync(join(workspace, 'ran'))).toBe(false);
  });

  test('stop at random moments of the start → nothing is left, and no result says that it ended by itself', async () => {
    const runner = makeRunner(mode);
    for (let n = 0; n < 12; n += 1) {
      const command = await runner.start({ callId: `wf/e-${n}`, command: 'sleep 600', timeoutMs: 60_000 });
      await new Promise((resolve) => setTimeout(resolve, n * 2));
      await runner.stop(command, 'cancelled');
      expect((await settle(runner, command)).end).toMatch(/^(?:cancelled|not_started)$/u);
      expect(findMarked('SUREHAND_CALL', markOf(`wf/e-${n}`))).toEqual([]);
    }
  });

  test('a supervisor that does not answer (stopped) → the command still dies on stop', async () => {
    const runner = makeRunner(mode);
    const command = await runner.start({ callId: 'wf/f-1', command: 'touch begun; sleep 600', timeoutMs: 60_000 });
    await until(() => existsSync(join(workspace, 'begun')));
    process.kill(supervisorPid('wf/f-1'), 'SIGSTOP');
    const stopping = runner.stop(command, 'cancelled');
    await stopping;
    expect(anyAlive(`sleep${String.fromCharCode(0)}600`)).toBe(false);
    expect(await settle(runner, command)).toMatchObject({ end: 'cancelled' });
  });

  test('the same key in another state directory → another command, which a stop or an end here does not touch', async () => {
    const here = makeRunner(mode);
    const command = await here.start({
      callId: 'wf/i-1',
      command: 'until test -e go; do sleep 0.02; done',
      timeoutMs: 60_000,
    });
    const mine = state;
    state = join(base, 'other-state');
    const there = makeRunner(mode);
    const other = await there.start({ callId: 'wf/i-1', command: 'sleep 600', timeoutMs: 60_000 });
    await there.stop(other, 'cancelled');
    state = mine;
    expect(await here.poll(command)).toMatchObject({ running: true });
    writeFileSync(join(workspace, 'go'), '');
    expect(await settle(here, command)).toMatchObject({ end: 'exited', exitCode: 0 });
  });

  test('its files are removed while it runs → the deadline still ends it, and the outcome is unknown', async () => {
    const runner = makeRunner(mode);
    const command = await runner.start({ callId: 'wf/j-1', command: 'touch begun; sleep 611', timeoutMs: 600 });
    await until(() => existsSync(join(workspace, 'begun')));
    rmSync(state, { recursive: true });
    expect(await runner.poll(command)).toMatchObject({ running: true });
    expect(await settle(runner, command)).toMatchObject({ running: false, end: 'unknown' });
    expect(anyAlive(`sleep${String.fromCharCode(0)}611`)).toBe(false);
  });

  test('stop after the end → the outcome stays', async () => {
    const runner = makeRunner(mode);
    const command = await runner.start({ callId: 'wf/g-1', command: 'exit 4', timeoutMs: 5000 });
    await settle(runner, command);
    await runner.stop(command, 'cancelled');
    expect(await runner.poll(command)).toMatchObject({ end: 'exited', exitCode: 4 });
  });

  test('after the end → files of the call remain until discarded, no process does', async () => {
    const runner = makeRunner(mode);
    const command = await runner.start({ callId: 'wf/h-1', command: 'true', timeoutMs: 5000 });
    const supervisor = readProcess(supervisorPidWhenThere('wf/h-1'));
    await settle(runner, command);
    await until(() => supervisor === undefined || !isAlive(supervisor));
    expect(findMarked('SUREHAND_CALL', markOf('wf/h-1'))).toEqual([]);
    await runner.discard(command);
    expect(runner.find('wf/h-1')).toBeUndefined();
  });
});

test('strict: a sandbox that cannot be set up → sandbox_failed, never exit 1', async () => {
  const runner = createCommandRunner({
    stateDirectory: state,
    workspace,
    sandbox: { mode: 'strict', bwrapPath: '/bin/false' },
    nodePath: process.execPath,
  });
  const command = await runner.start({ callId: 'x', command: 'exit 1', timeoutMs: 5000 });
  expect(await settle(runner, command)).toMatchObject({ end: 'sandbox_failed' });
});

test('broken: every start is refused with the reason', async () => {
  const sandbox = { mode: 'broken', detail: 'no namespaces' } as const;
  const runner = createCommandRunner({ stateDirectory: state, workspace, sandbox, nodePath: process.execPath });
  await expect(runner.start({ callId: 'x', command: 'true', timeoutMs: 5000 })).rejects.toThrow('no namespaces');
});

test('a state directory inside the workspace → refused', () => {
  state = join(workspace, 'state');
  expect(() => makeRunner('off')).toThrow('must not be inside the workspace');
});

test('output limit → exact on disk, reported as such, whatever the command exits with', async () => {
  const runner = createCommandRunner({
    stateDirectory: state,
    workspace,
    sandbox: { mode: 'strict', bwrapPath: findBwrap() },
    nodePath: process.execPath,
    maxOutputBytes: 4096,
  });
  const exact = await runner.start({ callId: 'exact', command: 'head -c 4096 /dev/zero', timeoutMs: 5000 });
  expect(await settle(runner, exact)).toMatchObject({ end: 'exited', exitCode: 0, outputBytes: 4096 });
  const more = await runner.start({ callId: 'more', command: 'head -c 9000 /dev/zero; sleep 600', timeoutMs: 50_000 });
  expect(await settle(runner, more)).toMatchObject({ end: 'output_limit', outputBytes: 4608 });
});

function anyAlive(commandLine: string): boolean {
  return execFileSync('/bin/sh', ['-c', 'cat /proc/[0-9]*/cmdline 2>/dev/null || true'], {
    encoding: 'latin1',
  }).includes(commandLine);
}

function supervisorPidWhenThere(callId: string): number {
  for (;;) {
    try {
      return supervisorPid(callId);
    } catch {
      execFileSync('/bin/sleep', ['0.002']);
    }
  }
}

/** The runner as plain JavaScript for a process of its own, as the worker is. */
function bundleRunner(target: string): void {
  const swc = join(process.cwd(), 'node_modules', '@swc', 'core');
  const source = join(process.cwd(), 'src');
  const script = `
    const { transformSync } = require(${JSON.stringify(swc)});
    const Module = require('node:module');
    Module._extensions['.ts'] = (module, file) => module._compile(transformSync(require('node:fs').readFileSync(file, 'utf8'), {
      filename: file, jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } }).code, file);
    module.exports = require(${JSON.stringify(join(source, 'workspace', 'command-runner.ts'))});`;
  writeFileSync(target, script);
}
