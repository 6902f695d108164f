import { createServer as createHttpServer } from 'node:http';
import { createSecureServer, createServer as createHttp2Server } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { openConnection, TemporalConnectionError } from '../../src/temporal/open-connection';
import type { TemporalTarget } from '../../src/temporal/connection';
import { freePort } from '../support/free-port';
import { CERTIFICATE, KEY } from '../support/tls-files';

/** For servers that never answer, and for those that do. */
const SOON_MS = 300;
const ANSWERS_MS = 5_000;
const open: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  open.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

/** Answers each gRPC call with this status. */
const grpcStatus = (status: number) => (stream: ServerHttp2Stream) => {
  const headers = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status) };
  stream.respond({ ...headers, 'grpc-message': 'no' }, { endStream: true });
};

async function problemOf(target: Omit<TemporalTarget, 'namespace'>, timeoutMs = SOON_MS): Promise<[string, string]> {
  const error: unknown = await openConnection({ namespace: 'default', ...target }, timeoutMs).catch(
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TemporalConnectionError)) throw new Error('no problem was reported', { cause: error });
  return [error.problem, error.message];
}

describe('a server that cannot be used', () => {
  test('nobody listens → unavailable, refused', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    await expect(problemOf({ address })).resolves.toEqual([
      'unavailable',
      `No Temporal server is reachable at ${address}: nothing listens there (connection refused). Start it, or correct TEMPORAL_ADDRESS.`,
    ]);
  });

  test('a name that does not exist → unavailable, the name', async () => {
    const [problem, message] = await problemOf({ address: 'temporal.invalid:7233' });
    expect([problem, message]).toEqual(['unavailable', expect.stringMatching(/: the name cannot be resolved/)]);
  });

  test('one that accepts and says nothing, or speaks HTTP → unavailable, and a hint', async () => {
    const hint = /: something listens there, but does not answer as Temporal does \(does it want TLS\?/;
    for (const server of [createTcpServer(), createHttpServer((_, response) => response.end('<html>'))]) {
      const [problem, message] = await problemOf({ address: await listen(server) });
      expect([problem, message]).toEqual(['unavailable', expect.stringMatching(hint)]);
    }
  });

  test('TLS wanted from one that has none → unavailable, it does not speak TLS', async () => {
    const address = await listen(createHttp2Server());
    const [problem, message] = await problemOf({ address, tls: true });
    expect([problem, message]).toEqual([
      'unavailable',
      expect.stringMatching(/the TLS handshake failed: (the other side does not speak TLS|the connection was cut)/),
    ]);
  });

  test('a certificate of an unknown CA → unavailable, and which CA is missing; with it the handshake works', async () => {
    const server = createSecureServer({ cert: CERTIFICATE, key: KEY });
    server.on('stream', grpcStatus(16));
    const address = await listen(server);
    const [problem, message] = await problemOf({ address, tls: true });
    expect([problem, message]).toEqual(['unavailable', expect.stringContaining('its certificate is self-signed')]);
    const trusted = { serverRootCa: Buffer.from(CERTIFICATE), serverName: 'localhost' };
    const refused = await problemOf({ address, tls: trusted, apiKey: 'wrong' }, ANSWERS_MS);
    expect(refused).toEqual(['unauthenticated', expect.stringContaining('refused the credentials')]);
  });

  test.each([
    ['UNAUTHENTICATED', 16],
    ['PERMISSION_DENIED', 7],
  ])('%s → unauthenticated, with what to look at', async (_, status) => {
    const server = createHttp2Server();
    server.on('stream', grpcStatus(status));
    const address = await listen(server);
    await expect(problemOf({ address }, ANSWERS_MS)).resolves.toEqual([
      'unauthenticated',
      `Temporal at ${address} refused the credentials. Look at TEMPORAL_API_KEY, TEMPORAL_NAMESPACE and the TLS settings.`,
    ]);
  });

  test('no such namespace → said with its name', async () => {
    const address = process.env['SUREHAND_TEST_TEMPORAL'] ?? '';
    const error: unknown = await openConnection({ address, namespace: 'nowhere' }, ANSWERS_MS).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      problem: 'no-namespace',
      message: expect.stringContaining('has no namespace "nowhere"'),
    });
  });
});

test('key and headers of the profile reach the server with every call', async () => {
  const seen: unknown[] = [];
  const server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    seen.push([headers.authorization, headers['x-team'], headers['temporal-namespace']]);
    grpcStatus(16)(stream);
  });
  const address = await listen(server);
  await problemOf({ address, tls: false, apiKey: 'key-1', metadata: { 'x-team': 'blue' } }, ANSWERS_MS);
  expect(seen[0]).toEqual(['Bearer key-1', 'blue', undefined]);
});
