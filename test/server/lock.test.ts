import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readLiveHolder, tryLock } from '../../src/server/lock';
import { ownIdentity } from '../../src/server/process-identity';
import { alive, killNine } from './daemon-bench';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'surehand-lock-'));
  file = path.join(directory, 'x.lock');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a free lock → held, with the holder in the file; released → free again', async () => {
  const first = await tryLock(file, { ...ownIdentity(), note: 'mine' });
  if (!first.held) throw new Error('not held');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid, note: 'mine' });
  expect(await tryLock(file, ownIdentity())).toMatchObject({ held: false, holder: { pid: process.pid, note: 'mine' } });
  first.lock.release();
  expect((await tryLock(file, ownIdentity())).held).toBe(true);
});

test('a shorter record after a longer one → the file holds the new one alone', async () => {
  const first = await tryLock(file, { ...ownIdentity(), note: 'x'.repeat(500) });
  if (first.held) first.lock.release();
  await tryLock(file, ownIdentity());
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ownIdentity());
});

test('the holder is killed → the lock is free, and nobody is named', async () => {
  const holder = spawn('flock', ['-x', file, 'sh', '-c', 'echo $$; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(holder.stdout, 'data')) as [Buffer];
  expect(await tryLock(file, ownIdentity())).toEqual({ held: false, holder: undefined });
  // Waited for before the kill: it may end while that is awaited.
  const ended = once(holder, 'exit');
  await killNine(alive(Number(line.toString())));
  await ended;
  expect((await tryLock(file, ownIdentity())).held).toBe(true);
});

test('a child that outlives the holder → it does not keep the lock', async () => {
  const lock = await tryLock(file, ownIdentity());
  const child = spawn('sleep', ['60'], { stdio: ['ignore', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  if (lock.held) lock.lock.release();
  expect((await tryLock(file, ownIdentity())).held).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
});

test('a lock file that cannot be made → a usage error that names it', async () => {
  const impossible = path.join(file, 'below-a-file');
  await tryLock(file, ownIdentity());
  await expect(tryLock(impossible, ownIdentity())).rejects.toMatchObject({
    kind: 'usage',
    message: `the lock file ${impossible} cannot be opened (ENOTDIR).`,
  });
});

test('a damaged or missing lock file → no holder', () => {
  expect(readLiveHolder(file)).toBeUndefined();
});
