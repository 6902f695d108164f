import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port';
import { childrenOf, descendantsOf, isAlive } from './processes';
import { removeTempDirectories, tempDirectory } from './temp-directory';
import { waitFor } from './wait-for';

afterEach(removeTempDirectories);

test('tempDirectory: made, different each time, gone with its content after removal', async () => {
  const [first, second] = [await tempDirectory('a'), await tempDirectory('a')];
  await writeFile(join(first, 'file'), 'x');
  expect(first).not.toBe(second);
  await removeTempDirectories();
  expect([existsSync(first), existsSync(second)]).toEqual([false, false]);
});

test('freePort: a server can listen on it', async () => {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  expect(server.address()).toMatchObject({ port });
  await new Promise((resolve) => server.close(resolve));
});

test('waitFor: returns the first value that is there', async () => {
  const answers = [undefined, null, false, 0, 7];
  await expect(waitFor('a number', () => answers.shift(), { intervalMs: 1 })).resolves.toBe(0);
});

test('waitFor: deadline passed → says what was waited for and why the last try failed', async () => {
  const probe = () => Promise.reject(new Error('connection refused'));
  await expect(waitFor('the port to open', probe, { timeoutMs: 5, intervalMs: 1 })).rejects.toThrow(
    'waited 5 ms in vain: the port to open; the last try failed: connection refused',
  );
});

test('processes: a child and its own child are found, and dead after a kill', async () => {
  const child = spawn('/bin/sh', ['-c', 'sleep 60 & wait'], { stdio: 'ignore' });
  const pid = child.pid ?? -1;
  const [grandchild = -1] = await waitFor('the grandchild', () => {
    const found = childrenOf(pid);
    return found.length === 1 && found;
  });
  expect(childrenOf(process.pid)).toContain(pid);
  expect(descendantsOf(process.pid)).toEqual(expect.arrayContaining([pid, grandchild]));
  expect([isAlive(pid), isAlive(grandchild)]).toEqual([true, true]);
  process.kill(grandchild, 'SIGKILL');
  child.kill('SIGKILL');
  await waitFor('both to end', () => !isAlive(pid) && !isAlive(grandchild));
  expect(childrenOf(pid)).toEqual([]);
});
