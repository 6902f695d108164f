import { lookup } from 'node:dns/promises';
import { mkdir, open, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { addressKind, judgeHost } from './network-hosts';
import type { NetworkRules } from './network-hosts';

export interface NetworkProxyOptions {
  /** Holds the socket and nothing else: it is what sandboxes get to see. */
  readonly directory: string;
  readonly rules: NetworkRules;
  /** Addresses of a name. Default: the system's. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Default: `addressKind`. */
  readonly kindOf?: typeof addressKind;
}

export interface NetworkProxy {
  close(): Promise<void>;
}

/** Name of the socket in its directory. */
export const PROXY_SOCKET = 'proxy.sock';

const MAX_CONNECTIONS = 200;
const CONNECT_TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 10 * 60_000;

/**
 * The only way from a sandbox to a network: an HTTP proxy on a Unix socket. It looks names up itself, and connects to an
 * address that it has judged, so a name cannot mean one thing when it is judged and another when it is used.
 */
export async function startNetworkProxy(options: NetworkProxyOptions): Promise<NetworkProxy> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  await rm(join(options.directory, PROXY_SOCKET), { force: true });
  const server = createServer({ requestTimeout: 0 });
  server.maxConnections = MAX_CONNECTIONS;
  const sockets = new Set<Duplex>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  server.on('connect', (message, socket, head) => {
    void tunnel(options, { message, socket, head });
  });
  server.on('request', (message, response) => {
    void forward(options, message, response);
  });
  server.on('upgrade', (_message, socket) => {
    refuseSocket(socket, 501, 'only plain requests and CONNECT are served');
  });
  await listen(server, options.directory);
  return {
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A socket's path may have 107 bytes; through the directory's descriptor any directory will do. */
async function listen(server: Server, directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(`/proc/self/fd/${handle.fd}/${PROXY_SOCKET}`, resolve);
    });
  } finally {
    await handle.close();
  }
}

/** Why a request is not served. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** An address of a listed host that may be connected to. @throws Refusal */
async function chooseAddress(options: NetworkProxyOptions, host: string, port: number): Promise<string> {
  const verdict = judgeHost(host, port, options.rules);
  if (verdict === 'refused') throw new Refusal(403, `${host}:${port} is not among the hosts that this run may reach`);
  const resolve = options.resolve ?? systemResolve;
  const addresses = await resolve(host).catch(() => {
    throw new Refusal(502, `${host} has no address`);
  });
  const usable = addresses.find((address) => {
    const kind = (options.kindOf ?? addressKind)(address);
    return kind === 'public' || (kind === 'private' && verdict === 'private-allowed');
  });
  if (usable === undefined) throw new Refusal(403, `${host} leads to an address that must not be reached from here`);
  return usable;
}

async function systemResolve(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

interface Tunnel {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function tunnel(options: NetworkProxyOptions, { message, socket, head }: Tunnel): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    const [, host = '', port = ''] = /^([^:@/\s]+):(\d{1,5})$/u.exec(message.url ?? '') ?? [];
    if (host === '') throw new Refusal(400, 'CONNECT needs HOST:PORT');
    const address = await chooseAddress(options, host, Number(port));
    const remote = await connectTo(address, Number(port));
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    remote.write(head);
    remote.on('error', () => socket.destroy());
    remote.once('close', () => socket.destroy());
    socket.once('close', () => remote.destroy());
    socket.pipe(remote).pipe(socket);
  } catch (error) {
    if (error instanceof Refusal) refuseSocket(socket, error.status, error.message);
    else socket.destroy();
  }
}

async function connectTo(address: string, port: number): Promise<Socket> {
  const socket = connect({ host: address, port, allowHalfOpen: true });
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', (error) => {
      reject(new Refusal(502, `the host cannot be reached: ${error.message}`));
    });
  });
  socket.setTimeout(IDLE_TIMEOUT_MS);
  return socket;
}

/** Say something between two ends of a connection only. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'host'],
]);

async function forward(
  options: NetworkProxyOptions,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const url = absoluteUrl(message.url ?? '');
    const port = url.port === '' ? 80 : Number(url.port);
    const address = await chooseAddress(options, url.hostname.replace(/^\[|\]$/gu, ''), port);
    await relayRequest(message, response, { url, address, port });
  } catch (error) {
    const [status, why] = error instanceof Refusal ? [error.status, error.message] : [502, 'the request failed'];
    if (!response.headersSent) response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
    response.end(`surehand: ${why}\n`);
  }
}

/** @throws Refusal for what is no plain request to a proxy. */
function absoluteUrl(text: string): URL {
  const url = /^http:\/\//iu.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') {
    throw new Refusal(400, 'a proxy takes absolute http:// addresses and CONNECT');
  }
  return url;
}

async function relayRequest(
  message: IncomingMessage,
  response: ServerResponse,
  target: { readonly url: URL; readonly address: string; readonly port: number },
): Promise<void> {
  const { url, address, port } = target;
  const headers = Object.entries(message.headers).filter(([name]) => !HOP_BY_HOP.has(name));
  await new Promise<void>((resolve, reject) => {
    const outgoing = request(
      {
        host: address,
        port,
        method: message.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...Object.fromEntries(headers), host: url.host },
        setHost: false,
        timeout: IDLE_TIMEOUT_MS,
      },
      (answer) => {
        const kept = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name));
        response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
        answer.pipe(response);
        answer.once('end', resolve);
        answer.once('error', reject);
      },
    );
    outgoing.once('error', (error) => {
      reject(new Refusal(502, `the host cannot be reached: ${error.message}`));
    });
    response.once('close', () => outgoing.destroy());
    message.pipe(outgoing);
  });
}

function refuseSocket(socket: Duplex, status: number, why: string): void {
  const body = `surehand: ${why}\n`;
  const head = [`HTTP/1.1 ${status} refused`, 'content-type: text/plain', `content-length: ${Buffer.byteLength(body)}`];
  socket.end(`${[...head, 'connection: close'].join('\r\n')}\r\n\r\n${body}`);
}
