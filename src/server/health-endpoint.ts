import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServerError, errorCode } from './server-error';

/** What a worker says about itself; `status` decides the HTTP status. */
export interface HealthReport {
  /** `ok`: every queue is served. */
  readonly status: 'starting' | 'ok' | 'stopping' | 'failed';
  readonly build: string;
  readonly hostId: string;
  readonly identity: string;
  readonly queues: readonly QueueHealth[];
}

export interface QueueHealth {
  readonly queue: string;
  /** Of the Temporal Worker: `RUNNING`, `DRAINING`, … */
  readonly state: string;
  readonly activities: number;
  readonly workflowTasks: number;
}

export interface HealthEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Answers `GET /healthz` on loopback with the report as JSON: 200 when it is `ok`, else 503. Nothing of a run is in it,
 * and nobody from outside the machine (or the container) can ask.
 * @param port 0 takes a free one.
 * @throws ServerError (`usage`) when the port is taken.
 */
export async function startHealthEndpoint(port: number, report: () => HealthReport): Promise<HealthEndpoint> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== '/healthz') send(response, 404, { error: 'there is only /healthz' });
    else if (request.method !== 'GET' && request.method !== 'HEAD') send(response, 405, { error: 'only GET' });
    else answer(response, report());
  });
  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, report: HealthReport): void {
  send(response, report.status === 'ok' ? 200 : 503, report);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: '127.0.0.1', port, exclusive: true }, resolve);
    });
  } catch (error) {
    throw new ServerError(
      'usage',
      `the health endpoint cannot listen on 127.0.0.1:${port} (${errorCode(error) ?? String(error)}). ` +
        'Choose another port with --health-port, or 0 for none.',
      { cause: error },
    );
  }
  // It must not keep a process alive that has nothing else to do.
  server.unref();
}
