import { readFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { HealthReport } from '../../src/server/health-endpoint';
import { freePort } from '../support/free-port';
import { removeTempDirectories } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';
import type { CliBench, Running } from './support/cli-bench';
import { createCliBench } from './support/cli-bench';

let bench: CliBench;
let port: number;
let env: Readonly<Record<string, string | undefined>>;

beforeAll(async () => {
  bench = await createCliBench();
  port = await freePort();
  env = {
    TEMPORAL_ADDRESS: process.env['SUREHAND_TEST_TEMPORAL'],
    SUREHAND_QUEUE_PREFIX: `service-${process.pid}`,
  };
});

afterAll(async () => {
  await bench.tearDown();
  await removeTempDirectories();
});

async function health(): Promise<{ readonly status: number; readonly report: HealthReport }> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`);
  return { status: response.status, report: (await response.json()) as HealthReport };
}

async function startWorker(): Promise<Running> {
  const worker = bench.start(['worker', '--health-port', String(port)], { env });
  await waitFor('a healthy worker', async () => (await health()).status === 200, { timeoutMs: 40_000 });
  return worker;
}

test('a worker on a cluster: health, doctor, two signals in mid-command, and the next worker ends the run', async () => {
  const first = await startWorker();
  const { report } = await health();
  const queues = [`service-${process.pid}`, `service-${process.pid}-host-${report.hostId}`];
  expect(report).toMatchObject({ status: 'ok', build: 'test-build', identity: expect.stringContaining(report.hostId) });
  expect(report.queues.map(({ queue, state }) => [queue, state])).toEqual(queues.map((queue) => [queue, 'RUNNING']));

  const second = await bench.run(['worker'], { env });
  expect([second.code, second.stderr]).toEqual([2, expect.stringMatching(/process \d+ already serves /)]);

  const doctor = await bench.run(['doctor'], { env });
  for (const queue of queues)
    expect(doctor.stdout).toMatch(new RegExp(`^✓ queue:${queue}:\\w+: .*build test-build\\)`, 'm'));

  const workspace = await bench.workspace();
  const command = 'echo start >> ledger; sleep 4; echo end >> ledger';
  const model = await bench.script([
    { text: 'Working.', calls: [{ name: 'bash', input: { command } }] },
    { text: 'Done.' },
  ]);
  const run = bench.run(['run', 'x', '--workspace', workspace, '--model', model], { env });
  const ledger = (): string => readFileSync(path.join(workspace, 'ledger'), 'utf8');
  await waitFor('the command', () => ledger() === 'start\n', { timeoutMs: 30_000 });
  first.child.kill('SIGTERM');
  await waitFor('a worker that drains', async () => {
    const draining = await health();
    return (
      draining.status === 503 &&
      draining.report.status === 'stopping' &&
      draining.report.queues.some(({ activities }) => activities > 0)
    );
  });
  first.child.kill('SIGTERM');
  expect((await first.finished).code).toBe(143);

  const next = await startWorker();
  expect(await run).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(ledger()).toBe('start\nend\n');
  next.child.kill('SIGTERM');
  expect((await next.finished).code).toBe(0);
});

test('a Temporal server that refuses the credentials → exit 3, one sentence', async () => {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stderr } = await bench.run(['worker'], { env: { TEMPORAL_ADDRESS: address } });
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining(`Temporal at ${address} refused the credentials. Look at`),
  ]);
  expect(stderr).not.toContain('    at ');
  server.close();
});
