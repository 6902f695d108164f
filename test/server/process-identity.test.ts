import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  endProcess,
  identify,
  isAlive,
  ownIdentity,
  signalProcess,
  waitUntilGone,
} from '../../src/server/process-identity';
import { alive } from './daemon-bench';

test('this process → it is alive, and another start time under its pid is not', () => {
  const own = ownIdentity();
  expect(own.pid).toBe(process.pid);
  expect(isAlive(own)).toBe(true);
  expect(isAlive({ ...own, startTime: '1' })).toBe(false);
});

test('a pid that was given to another process → it gets no signal', () => {
  expect(signalProcess({ pid: process.pid, startTime: '1' }, 'SIGKILL')).toBe(false);
});

test('a program name with spaces and parentheses → the start time is still found', async () => {
  const child = spawn('bash', ['-c', 'exec -a "a) S (b" sleep 60']);
  const identity = alive(child.pid!);
  expect(identity.startTime).toMatch(/^\d+$/);
  child.kill('SIGKILL');
  await once(child, 'exit');
});

test('a process that has ended but was not reaped → it counts as dead', async () => {
  // The shell becomes a program that never waits for its child.
  const parent = spawn('sh', ['-c', 'true & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const zombie = Number(line.toString());
  const found = identify(zombie);
  if (found !== undefined) expect(await waitUntilGone(found, 5_000)).toBe(true);
  expect(identify(zombie)).toBeUndefined();
  parent.kill('SIGKILL');
  await once(parent, 'exit');
});

test('a process that ignores SIGTERM → it is killed after the grace', async () => {
  const child = spawn('sh', ['-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  const identity = alive(child.pid!);
  expect(await endProcess(identity, 200)).toBe(true);
  expect(isAlive(identity)).toBe(false);
  expect(await endProcess(identity, 200)).toBe(false);
});
