import { chmodSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { findDaemon, stopDaemon } from '../../src/server/daemon-client';
import { isAlive } from '../../src/server/process-identity';
import { stateFiles } from '../../src/server/state-directory';
import type { DaemonBench } from './daemon-bench';
import { alive, containing, createDaemonBench, killNine, matching, until } from './daemon-bench';

let bench: DaemonBench;

beforeEach(() => {
  bench = createDaemonBench();
});

afterEach(async () => {
  await bench.tearDown();
});

async function withClient<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

test('no daemon → ensure starts server and worker, and a second ensure gets the same ones at once', async () => {
  const first = await bench.ensure();
  const startedAt = Date.now();
  const second = await bench.ensure();
  expect(Date.now() - startedAt).toBeLessThan(500);
  expect(second).toEqual(first);
  expect(bench.progress).toEqual(['starting the local Temporal server and worker']);
  expect(first).toMatchObject({ namespace: 'default', build: 'build-1' });
  expect(first.address).toMatch(/^127\.0\.0\.1:\d+$/);
  expect((await fetch(first.uiUrl)).status).toBe(200);
  expect(bench.record()).toMatchObject({
    state: 'ready',
    pid: first.pid,
    configDigest: 'config-1',
    hostId: first.hostId,
  });
  expect(findDaemon(bench.home)).toEqual(first);

  // A damaged record costs a moment, not the daemon.
  const record = stateFiles(bench.home).daemon;
  truncateSync(record, statSync(record).size - 7);
  expect(findDaemon(bench.home)).toBeUndefined();
  expect(await bench.ensure()).toEqual(first);
});

test('down → no process is left, the record is gone, and a second down says so', async () => {
  const { pid } = await bench.ensure();
  const processes = [alive(pid), bench.server(), bench.worker()];
  expect(await stopDaemon(bench.home)).toBe('stopped');
  expect(processes.map(isAlive)).toEqual([false, false, false]);
  expect(findDaemon(bench.home)).toBeUndefined();
  expect(await stopDaemon(bench.home)).toBe('not-running');
});

test('the server is killed → it comes back on the same port with the same data', async () => {
  const { address } = await bench.ensure();
  await withClient(address, (client) => client.workflow.start('w', { taskQueue: 'q', workflowId: 'kept', memo: {} }));
  const [server, worker] = [bench.server(), bench.worker()];
  await killNine(server);
  await until('another server is up', () => bench.record().state === 'ready' && bench.server().pid !== server.pid);
  expect((await bench.ensure()).address).toBe(address);
  const status = await withClient(
    address,
    async (client) => (await client.workflow.getHandle('kept').describe()).status,
  );
  expect(status.name).toBe('RUNNING');
  expect(bench.worker()).toEqual(worker);
});

test('the worker is killed → it is started again at once, by the same daemon', async () => {
  const { pid } = await bench.ensure();
  const worker = bench.worker();
  await killNine(worker);
  await until(
    'another worker is ready',
    () => bench.record().state === 'ready' && bench.worker().pid !== worker.pid,
    3_000,
  );
  expect((await bench.ensure()).pid).toBe(pid);
});

test('the daemon is killed → server and worker end within 2 s, and the next ensure has the same ports and data', async () => {
  const before = await bench.ensure();
  await withClient(before.address, (client) => client.workflow.start('w', { taskQueue: 'q', workflowId: 'kept' }));
  const [server, worker] = [bench.server(), bench.worker()];
  await killNine(alive(before.pid));
  await until('server and worker have ended', () => !isAlive(server) && !isAlive(worker), 2_000);
  const after = await bench.ensure();
  expect(after).toEqual({ ...before, pid: after.pid });
  expect(after.pid).not.toBe(before.pid);
  await withClient(after.address, (client) => client.workflow.getHandle('kept').describe());
});

test('the daemon is killed and its worker does not end by itself → the next daemon ends it', async () => {
  const workerEntry = bench.workerScript(
    "process.removeAllListeners('disconnect'); process.on('disconnect', () => {}); ready(); setInterval(() => {}, 1000);",
  );
  const { pid } = await bench.ensure({ workerEntry });
  const worker = bench.worker();
  await killNine(alive(pid));
  await bench.ensure({ workerEntry });
  expect(isAlive(worker)).toBe(false);
  expect(bench.log('daemon')).toContain('ended what a killed daemon had left running');
});

test('the daemon was killed → down ends what it left and says stopped', async () => {
  const workerEntry = bench.workerScript(
    "process.removeAllListeners('disconnect'); process.on('disconnect', () => {}); ready(); setInterval(() => {}, 1000);",
  );
  const { pid } = await bench.ensure({ workerEntry });
  const worker = bench.worker();
  await killNine(alive(pid));
  expect(await stopDaemon(bench.home)).toBe('stopped');
  expect(isAlive(worker)).toBe(false);
});

test('another build → the daemon is restarted and the address stays', async () => {
  const before = await bench.ensure();
  const after = await bench.ensure({ build: 'build-2' });
  expect(after.pid).not.toBe(before.pid);
  expect(after).toMatchObject({ build: 'build-2', address: before.address, hostId: before.hostId });
  expect(bench.progress.at(-2)).toBe(
    'restarting the local server and worker: they are of another build (runs go on by themselves)',
  );
});

test('other settings → restarted only by a caller that wants that', async () => {
  const before = await bench.ensure();
  const reader = await bench.ensure({ configDigest: 'config-2', restartOnConfigChange: false });
  expect(reader.pid).toBe(before.pid);
  const starter = await bench.ensure({ configDigest: 'config-2' });
  expect(starter.pid).not.toBe(before.pid);
  expect(bench.progress).toContain('restarting the local server and worker: the settings have changed');
});

test('five callers at once → one daemon, and all get its address', async () => {
  const addresses = await Promise.all(Array.from({ length: 5 }, () => bench.ensure()));
  expect(new Set(addresses.map(({ pid }) => pid)).size).toBe(1);
  expect(bench.log('daemon').match(/server is up/g)).toHaveLength(1);
});

test('a kept port is taken by another process → other ports, and the log says so', async () => {
  const before = await bench.ensure();
  await stopDaemon(bench.home);
  const port = Number(before.address.split(':')[1]);
  const intruder = createServer().listen(port, '127.0.0.1');
  try {
    const after = await bench.ensure();
    expect(after.address).not.toBe(before.address);
    expect(bench.log('daemon')).toMatch(
      new RegExp(`port ${port} or \\d+ is taken by another process; using \\d+ and \\d+`),
    );
    const kept: unknown = JSON.parse(readFileSync(stateFiles(bench.home).ports, 'utf8'));
    expect(kept).toMatchObject({ grpc: Number(after.address.split(':')[1]) });
  } finally {
    intruder.close();
  }
});

test('a state directory that is a file → a usage error that names it and SUREHAND_HOME', async () => {
  writeFileSync(bench.home, '');
  await expect(bench.ensure()).rejects.toMatchObject({
    kind: 'usage',
    message: matching(new RegExp(`the state directory ${bench.home} cannot be used \\(EEXIST\\).*SUREHAND_HOME`)),
  });
});

test('no Temporal anywhere → a usage error with the set-up command, and no daemon', async () => {
  const env = { PATH: '/nonexistent', HOME: path.join(bench.scratch, 'nobody') };
  await expect(bench.ensure({ env })).rejects.toMatchObject({
    kind: 'usage',
    message: containing('npm run setup'),
  });
  expect(findDaemon(bench.home)).toBeUndefined();
});

test('a server that cannot start → unavailable, with the end of its log and where the logs are', async () => {
  const binaries = path.join(bench.scratch, 'bin');
  mkdirSync(binaries);
  writeFileSync(
    path.join(binaries, 'temporal'),
    '#!/bin/sh\nif [ "$1" = --version ]; then echo temporal version 1.9.1; else echo disk is full; exit 1; fi\n',
  );
  chmodSync(path.join(binaries, 'temporal'), 0o755);
  const env = { PATH: `${binaries}:/usr/bin:/bin`, HOME: bench.scratch };
  await expect(bench.ensure({ env, timeoutMs: 3_000 })).rejects.toMatchObject({
    kind: 'unavailable',
    message: matching(/did not come up in time[^]*disk is full[^]*logs: .*\/logs/),
  });
});

test('a worker that refuses to start five times → unavailable with its reason; the next ensure tries again', async () => {
  const marker = path.join(bench.scratch, 'starts');
  const workerEntry = bench.workerScript(
    `fs.appendFileSync(${JSON.stringify(marker)}, 'x'); console.error('no such model'); process.exit(2);`,
  );
  await expect(bench.ensure({ workerEntry })).rejects.toMatchObject({
    kind: 'unavailable',
    message: matching(/^the worker cannot start:[^]*no such model/),
  });
  expect(readFileSync(marker, 'utf8')).toBe('xxxxx');
  // Five times in the log, once more in the reason for giving up.
  expect(bench.log('daemon').match(/last words:\\nno such model/g)).toHaveLength(5);
  bench.workerScript('ready(); setInterval(() => {}, 1000);');
  await bench.ensure({ workerEntry });
  expect(bench.progress).toContain('restarting the local server and worker: they had given up');
});

test('the worker gets its address and home, and no settings of another server', async () => {
  const file = path.join(bench.scratch, 'env.json');
  const workerEntry = bench.workerScript(
    `fs.writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env)); ready(); setInterval(() => {}, 1000);`,
  );
  const { address } = await bench.ensure({
    workerEntry,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', TEMPORAL_API_KEY: 'k', A: 'b' },
  });
  const env: unknown = JSON.parse(readFileSync(file, 'utf8'));
  expect(env).toMatchObject({
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: 'default',
    SUREHAND_HOME: bench.home,
    SUREHAND_EMBEDDED: '1',
    A: 'b',
  });
  expect(env).not.toHaveProperty('TEMPORAL_API_KEY');
});

test('the environment map → it is on no command line and the server does not get it', async () => {
  const secret = 'sk-very-secret';
  const { pid } = await bench.ensure({
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ANTHROPIC_API_KEY: secret },
  });
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(secret);
  expect(readFileSync(`/proc/${bench.server().pid}/environ`, 'utf8')).not.toContain(secret);
});

test('no open run and no client for the idle time → it stops by itself', async () => {
  const { pid } = await bench.ensure({ idleMs: 800 });
  const daemon = alive(pid);
  await until('the daemon has ended', () => !isAlive(daemon));
  expect(bench.log('daemon')).toContain('nobody needs it');
  expect(findDaemon(bench.home)).toBeUndefined();
});

test('an open run → the daemon stays over its idle time, and stops once there are only chats that wait', async () => {
  const idleMs = 1_000;
  const { pid, address } = await bench.ensure({ idleMs });
  const daemon = alive(pid);
  const startedAt = Date.now();
  await withClient(address, (client) => client.workflow.start('w', { taskQueue: 'q', workflowId: 'open' }));
  await until('three idle times are over', () => Date.now() - startedAt > 3 * idleMs);
  expect(isAlive(daemon)).toBe(true);
  const state = defineSearchAttributeKey('SurehandState', 'KEYWORD');
  await withClient(address, async (client) => {
    await client.workflow.start('w', {
      taskQueue: 'q',
      workflowId: 'chat',
      typedSearchAttributes: [{ key: state, value: 'waiting-for-message' }],
    });
    await client.workflow.getHandle('open').terminate();
  });
  await until('the daemon has ended', () => !isAlive(daemon));
});
