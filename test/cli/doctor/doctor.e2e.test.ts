import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { removeTempDirectories } from '../../support/temp-directory';
import type { CliBench } from '../support/cli-bench';
import { createCliBench } from '../support/cli-bench';

let bench: CliBench;

beforeAll(async () => {
  bench = await createCliBench();
});

afterAll(async () => {
  await bench.tearDown();
  await removeTempDirectories();
});

interface Report {
  readonly schemaVersion: number;
  readonly ok: boolean;
  readonly checks: readonly Readonly<Record<'id' | 'state' | 'detail' | 'why' | 'mend', string | null>>[];
}

const stateOf = ({ checks }: Report): Record<string, unknown> =>
  Object.fromEntries(checks.map(({ id, state }) => [String(id), state]));

test('nothing runs yet → exit 0, one document; no daemon is started and no directory made', async () => {
  const { code, stdout, stderr } = await bench.run(['doctor', '--json']);
  expect([code, stderr]).toEqual([0, '']);
  const report = JSON.parse(stdout) as Report;
  expect(report).toMatchObject({ schemaVersion: 1, ok: true });
  expect(stateOf(report)).toMatchObject({
    node: 'ok',
    'temporal-binary': 'ok',
    daemon: 'ok',
    server: 'warn',
    sandbox: 'ok',
    model: 'warn',
    'state-usage': 'ok',
  });
  for (const check of report.checks) expect(Object.keys(check)).toEqual(['id', 'state', 'detail', 'why', 'mend']);
  expect(report.checks.find(({ id }) => id === 'server')?.mend).toBe(
    'The next run starts it by itself; start it now: surehand demo',
  );
  expect(existsSync(bench.home)).toBe(false);
});

test('a server that accepts and says nothing → exit 1 in time, the rest is looked at all the same', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const before = Date.now();
  const { code, stdout } = await bench.run(['doctor'], { env: { TEMPORAL_ADDRESS: address } });
  expect(Date.now() - before).toBeLessThan(10_000);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    new RegExp(`^✗ server: No Temporal server is reachable at ${address}: something listens`, 'm'),
  );
  expect(stdout).toMatch(/^ {4}mend: Start it, or correct TEMPORAL_ADDRESS\.$/m);
  expect(stdout).toMatch(/^✓ sandbox: /m);
  expect(stdout).toMatch(/\n\n1 to mend, \d to look at\.\n$/);
  silent.close();
});
