import { networkInterfaces } from 'node:os';
import type { HealthEndpoint, HealthReport } from '../../src/server/health-endpoint';
import { startHealthEndpoint } from '../../src/server/health-endpoint';
import { canConnect } from '../../src/server/loopback';

let endpoint: HealthEndpoint;
let status: HealthReport['status'] = 'starting';

beforeAll(async () => {
  endpoint = await startHealthEndpoint(0, () => ({ status, build: 'b', hostId: 'h', identity: 'i', queues: [] }));
});

afterAll(() => endpoint.close());

const ask = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${endpoint.port}${path}`, { method });

test.each([
  ['starting', 503],
  ['ok', 200],
  ['stopping', 503],
  ['failed', 503],
] as const)('%s → %d, with the report as it is at that moment', async (now, code) => {
  status = now;
  const response = await ask('/healthz?verbose=1');
  expect([response.status, response.headers.get('cache-control')]).toEqual([code, 'no-store']);
  expect(await response.json()).toEqual({ status: now, build: 'b', hostId: 'h', identity: 'i', queues: [] });
});

test('another path → 404, another method → 405', async () => {
  expect((await ask('/')).status).toBe(404);
  expect((await ask('/healthz', 'POST')).status).toBe(405);
});

test('from another address of this machine → refused', async () => {
  const others = Object.values(networkInterfaces()).flatMap((list = []) =>
    list.flatMap(({ address, family, internal }) => (family === 'IPv4' && !internal ? [address] : [])),
  );
  // 127.0.0.2 is there on every Linux, and not what the endpoint listens on.
  for (const address of ['127.0.0.2', ...others]) {
    expect(await canConnect(`${address}:${endpoint.port}`)).toBe(false);
  }
});

test('a port that is taken → refused in one sentence that names the flag', async () => {
  await expect(startHealthEndpoint(endpoint.port, () => ({}) as HealthReport)).rejects.toMatchObject({
    kind: 'usage',
    message: expect.stringMatching(
      /cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)\. Choose another port with --health-port/,
    ),
  });
});
