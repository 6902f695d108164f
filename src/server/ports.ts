import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './atomic-file';
import { ServerError } from './server-error';

const portsSchema = z.object({ grpc: z.number().int(), ui: z.number().int() });

export interface Ports {
  readonly grpc: number;
  readonly ui: number;
}

// Below the range from which the kernel gives ports to outgoing connections: one of those would be taken by chance
// while the server is down.
const FIRST_PORT = 17_000;
const LAST_PORT = 31_999;
const TRIES = 200;

/** Two free ports on loopback. They are not reserved: another process may be faster. */
export async function freePorts(): Promise<Ports> {
  const grpc = await freePort(undefined);
  return { grpc, ui: await freePort(grpc) };
}

/**
 * The ports kept in `file`, or new ones when there are none yet or another process listens there now.
 * @returns `replaced`: the kept ones that had to be given up.
 */
export async function keptPorts(file: string): Promise<{ readonly ports: Ports; readonly replaced?: Ports }> {
  const kept = readJsonFile(file, portsSchema);
  if (kept !== undefined && (await isFree(kept.grpc)) && (await isFree(kept.ui))) return { ports: kept };
  const ports = await freePorts();
  writeJsonFile(file, ports);
  return kept === undefined ? { ports } : { ports, replaced: kept };
}

async function freePort(not: number | undefined): Promise<number> {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (port !== not && (await isFree(port))) return port;
  }
  throw new ServerError('unavailable', `no free port between ${FIRST_PORT} and ${LAST_PORT} on 127.0.0.1.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
