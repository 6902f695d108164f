import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startNetworkProxy } from '../../src/workspace/network-proxy';
import type { NetworkProxy } from '../../src/workspace/network-proxy';
import { createToolBench } from '../tools/tool-bench';
import type { ToolBench } from '../tools/tool-bench';

let bench: ToolBench;
let origin: Server;
let proxy: NetworkProxy;
let seen: { url: string | undefined; headers: IncomingMessage['headers']; body: string }[];
let lookups: string[];
let port: number;

beforeAll(async () => {
  seen = [];
  origin = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const file = join(bench.outside, (request.url ?? '').replace(/\?.*$/u, ''));
      if (/^\/repo\//u.test(request.url ?? '')) {
        const found = existsSync(file) && statSync(file).isFile();
        response.writeHead(found ? 200 : 404).end(found ? readFileSync(file) : '');
        return;
      }
      seen.push({ url: request.url, headers: request.headers, body });
      response.end(`origin ${request.url ?? ''} ${body}`);
    });
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  port = (origin.address() as AddressInfo).port;
  bench = createToolBench({ network: true });
  await openProxy();
});
afterAll(async () => {
  await proxy.close();
  origin.closeAllConnections();
  origin.close();
  bench.close();
});
beforeEach(() => {
  seen = [];
  lookups = [];
});

/** The origin plays a public server for the names of the list; another name leads to the true loopback. */
async function openProxy(): Promise<void> {
  const hosts = [
    `ok.test:${port}`,
    `*.wide.test:${port}`,
    `rebound.test:${port}`,
    `gone.test:${port}`,
    `10.9.8.7:${port}`,
  ];
  proxy = await startNetworkProxy({
    directory: join(bench.state, 'network'),
    rules: { hosts, privateHosts: [] },
    resolve: (host) => {
      lookups.push(host);
      if (host === 'gone.test') return Promise.reject(new Error('no such name'));
      if (host === 'rebound.test') return Promise.resolve(['::1', '127.0.0.2', '169.254.169.254']);
      return Promise.resolve([/^[\d.]+$/u.test(host) ? host : '127.0.0.1']);
    },
    kindOf: (address) => (address === '127.0.0.1' ? 'public' : 'never'),
  });
}

const bash = async (command: string, more: Record<string, unknown> = {}) =>
  await bench.call('bash', { command, ...more });

/** What the proxy says to raw bytes. */
async function ask(text: string): Promise<string> {
  const socket = connect(join(bench.state, 'network', 'proxy.sock'));
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.write(text);
  await new Promise((resolve) => {
    socket.once('close', resolve);
    socket.once('end', resolve);
  });
  socket.destroy();
  return answer;
}

test('from within the sandbox: a plain request, a body, and a tunnel reach a listed host; the variables are set', async () => {
  const script = `
    curl -sS -d 'hello' http://ok.test:${port}/plain?x=1; echo
    curl -sS -p http://a.wide.test:${port}/tunnel; echo
    env | grep -ci '^[hn].*proxy='; echo "[$port$proxy]"`;
  const result = await bash(script);
  expect(result.message).toBe('origin /plain?x=1 hello\norigin /tunnel \n9\n[]\n[exit code 0]');
  expect(seen[0]).toMatchObject({ url: '/plain?x=1', body: 'hello', headers: { host: `ok.test:${port}` } });
  expect(Object.keys(seen[0]!.headers).filter((name) => name.startsWith('proxy'))).toEqual([]);
});

test('from within: git fetches from a listed host', async () => {
  bench.sh(`cd ../outside; git init -q -b main repo; cd repo; git config user.email a@b.c; git config user.name a
    git commit -q --allow-empty -m fetched; git update-server-info`);
  const result = await bash(
    `git init -q g && cd g && git fetch -q http://ok.test:${port}/repo/.git main && git log --format=%s FETCH_HEAD`,
  );
  expect(result.message).toBe('fetched\n[exit code 0]');
});

test('from within: a host that is not listed, or no way but the proxy → fails, and the result says which hosts there are', async () => {
  const refused = await bash(`curl -sS -p http://evil.test:${port}/`);
  expect(refused.status).toBe('failed');
  expect(refused.message).toContain('Commands can reach these hosts only, by HTTP and HTTPS: ok.test');
  const direct = await bash(`exec 3<>/dev/tcp/127.0.0.1/${port}`);
  expect(direct.status).toBe('failed');
  expect(seen).toEqual([]);
  expect(lookups).toEqual([]);
});

test('read_only → no network, and the result says that there is none', async () => {
  const result = await bash(`env | grep -i _proxy; ls -A /run; curl -sS http://ok.test:${port}/`, { read_only: true });
  expect(result.message).toMatch(
    /^curl: .*resolve host: ok\.test\n\[exit code 6\]\n\[Commands have no network with read_only/u,
  );
});

test('the command sees of the relay only its own loopback: no descriptor, no wait, its exit code and job table as ever', async () => {
  expect((await bash('ls /proc/self/fd | wc -l; wait; jobs; exit 5')).message).toBe('4\n[exit code 5]');
});

test('a worker that comes back serves the commands that still run', async () => {
  const running = bash(`touch begun; until [ -e go ]; do sleep 0.02; done; curl -sS http://ok.test:${port}/later`);
  while (!bench.sh('ls').includes('begun')) await new Promise((resolve) => setTimeout(resolve, 5));
  await proxy.close();
  expect((await bash(`curl -sS http://ok.test:${port}/away`)).message).toContain(
    'worker that serves the network is not there',
  );
  await openProxy();
  bench.put('go', '');
  expect((await running).message).toBe('origin /later \n[exit code 0]');
});

test.each([
  ['a host that is not listed', () => `CONNECT evil.test:${port} HTTP/1.1\r\n\r\n`, 403],
  ['another port', () => 'CONNECT ok.test:22 HTTP/1.1\r\n\r\n', 403],
  ['a listed name in the user part', () => `CONNECT ok.test@evil.test:${port} HTTP/1.1\r\n\r\n`, 400],
  ['no port', () => 'CONNECT ok.test HTTP/1.1\r\n\r\n', 400],
  ['a name that leads to loopback and link-local', () => `CONNECT rebound.test:${port} HTTP/1.1\r\n\r\n`, 403],
  ['a listed address that must not be reached', () => `CONNECT 10.9.8.7:${port} HTTP/1.1\r\n\r\n`, 403],
  ['a name without an address', () => `CONNECT gone.test:${port} HTTP/1.1\r\n\r\n`, 502],
  ['a request to the proxy itself', () => 'GET / HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n', 400],
  ['another scheme', () => 'GET ftp://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n', 400],
  ['a user part', () => `GET http://ok.test:${port}@evil.test/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 400],
  [
    'a name that is listed only in Host',
    () => `GET http://evil.test:${port}/ HTTP/1.1\r\nHost: ok.test:${port}\r\nConnection: close\r\n\r\n`,
    403,
  ],
  [
    'an upgrade',
    () => `GET http://ok.test:${port}/ HTTP/1.1\r\nHost: ok.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`,
    501,
  ],
])('%s → refused, nothing is reached', async (_, text, status) => {
  expect(await ask(text())).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `, 'u'));
  expect(seen).toEqual([]);
});
