import { rmSync } from 'node:fs';
import { z } from 'zod';
import { readJsonFile } from './atomic-file';
import { endProcess, isAlive, signalProcess, waitUntilGone } from './process-identity';
import type { ProcessIdentity } from './process-identity';
import type { StateFiles } from './state-directory';

const recordSchema = z.object({
  pid: z.number().int().positive(),
  startTime: z.string(),
  /** `ready`: server and worker are up. `failed`: given up, for the reason in `problem`. */
  state: z.enum(['starting', 'ready', 'stopping', 'failed']),
  build: z.string(),
  configDigest: z.string(),
  hostId: z.string(),
  namespace: z.string(),
  startedAt: z.string(),
  address: z.string().optional(),
  uiUrl: z.string().optional(),
  workerPid: z.number().int().optional(),
  workerStartTime: z.string().optional(),
  serverPid: z.number().int().optional(),
  serverStartTime: z.string().optional(),
  problem: z.string().optional(),
  /** The worker said that its configuration cannot work. */
  refused: z.boolean().optional(),
});

/** What `daemon.json` says about the daemon of a state directory. */
export type DaemonRecord = z.infer<typeof recordSchema>;

const OWN_END_MS = 2_000;

/** The record, whether or not its daemon still lives. */
export function readDaemonRecord(files: StateFiles): DaemonRecord | undefined {
  return readJsonFile(files.daemon, recordSchema);
}

/** The record of a daemon that lives (same pid and start time); undefined otherwise. */
export function readLiveDaemon(files: StateFiles): DaemonRecord | undefined {
  const record = readDaemonRecord(files);
  return record !== undefined && isAlive(record) ? record : undefined;
}

/**
 * Ends what a dead daemon left running and forgets its record. Its worker may be on its way out by itself, which is
 * the better end, so it gets a moment. Answers whether anything was running.
 */
export async function endLeftovers(files: StateFiles): Promise<boolean> {
  const record = readDaemonRecord(files);
  if (record === undefined || isAlive(record)) return false;
  const server = toIdentity(record.serverPid, record.serverStartTime);
  const worker = toIdentity(record.workerPid, record.workerStartTime);
  const serverLived = server !== undefined && (await endProcess(server, OWN_END_MS));
  const workerLived = worker !== undefined && (await endWorker(worker));
  rmSync(files.daemon, { force: true });
  return serverLived || workerLived;
}

async function endWorker(worker: ProcessIdentity): Promise<boolean> {
  if (!isAlive(worker)) return false;
  if (await waitUntilGone(worker, OWN_END_MS)) return true;
  signalProcess(worker, 'SIGKILL');
  return waitUntilGone(worker, OWN_END_MS);
}

function toIdentity(pid: number | undefined, startTime: string | undefined): ProcessIdentity | undefined {
  return pid === undefined || startTime === undefined ? undefined : { pid, startTime };
}
