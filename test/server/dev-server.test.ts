import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { devServerArguments, startDevServer } from '../../src/server/dev-server';
import { identify, isAlive } from '../../src/server/process-identity';
import { findTemporal } from '../../src/server/tool-paths';
import { buildDaemon } from './built-server';
import { alive, containing, killNine, until } from './daemon-bench';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'surehand-server-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('the flags are those that were measured', () => {
  expect(devServerArguments({ ports: { grpc: 1, ui: 2 }, databaseFile: '/d/x.db', fast: false }).join(' ')).toBe(
    'server start-dev --ip 127.0.0.1 --port 1 --ui-port 2 --db-filename /d/x.db --log-level error ' +
      '--dynamic-config-value history.transferProcessorMaxPollRPS=2000 ' +
      '--dynamic-config-value history.timerProcessorMaxTimeShift="10ms" ' +
      '--dynamic-config-value history.timerProcessorMaxPollRPS=2000 ' +
      '--sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=FULL ' +
      '--search-attribute SurehandState=Keyword --search-attribute SurehandHost=Keyword ' +
      '--search-attribute SurehandRepo=Keyword --search-attribute SurehandModel=Keyword ' +
      '--search-attribute SurehandTurns=Int --search-attribute SurehandCostUsd=Double',
  );
  expect(devServerArguments({ ports: { grpc: 1, ui: 2 }, databaseFile: 'x', fast: true })).toContain(
    'synchronous=NORMAL',
  );
  expect(devServerArguments({ ports: { grpc: 1, ui: 2 }, databaseFile: 'x', fast: true })).toContain(
    'history.workflowIdReuseMinimalInterval="0s"',
  );
});

test('a server → search attributes work at once, runs are kept for 90 days, and a second start has the same data', async () => {
  const binary = await findTemporal(process.env);
  for (const workflowId of ['first', 'second']) {
    const server = await startDevServer({ binary, directory, fast: true });
    const connection = await Connection.connect({ address: server.address });
    const client = new Client({ connection });
    await client.workflow.start('w', {
      taskQueue: 'q',
      workflowId,
      typedSearchAttributes: [
        { key: defineSearchAttributeKey('SurehandState', 'KEYWORD'), value: 'working' },
        { key: defineSearchAttributeKey('SurehandTurns', 'INT'), value: 1 },
        { key: defineSearchAttributeKey('SurehandCostUsd', 'DOUBLE'), value: 0.5 },
      ],
    });
    expect((await client.workflow.getHandle('first').describe()).status.name).toBe('RUNNING');
    const { config } = await connection.workflowService.describeNamespace({ namespace: 'default' });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(7_776_000);
    expect((await fetch(server.uiUrl)).status).toBe(200);
    await connection.close();
    await server.stop();
    expect(isAlive(server.identity)).toBe(false);
  }
});

test('a program that ends at once → unavailable, with what it wrote', async () => {
  await expect(startDevServer({ binary: '/bin/false', directory, fast: true })).rejects.toMatchObject({
    kind: 'unavailable',
    message: `the Temporal server did not start:\n  it wrote nothing to its log\n  log: ${directory}/server.log`,
  });
  await expect(startDevServer({ binary: '/bin/cat', directory, fast: true })).rejects.toMatchObject({
    message: containing("unrecognized option '--ip'"),
  });
});

test('a server that does not serve in time → it is ended', async () => {
  await expect(
    startDevServer({ binary: '/usr/bin/yes', directory, fast: true, startTimeoutMs: 200 }),
  ).rejects.toMatchObject({ kind: 'unavailable' });
});

test('the process that started it is killed → the server ends too', async () => {
  buildDaemon(path.join(directory, 'built'));
  const binary = await findTemporal(process.env);
  const script = `require(${JSON.stringify(path.join(directory, 'built', 'server', 'dev-server.js'))})
    .startDevServer({ binary: ${JSON.stringify(binary)}, directory: ${JSON.stringify(directory)}, fast: true })
    .then(({ pid }) => console.log(pid))`;
  const starter = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(starter.stdout, 'data')) as [Buffer];
  const server = alive(Number(line.toString()));
  expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).toContain('start-dev');
  await killNine(alive(starter.pid!));
  await until('the server is gone', () => !isAlive(server), 2_000);
  expect(identify(server.pid)).toBeUndefined();
});
