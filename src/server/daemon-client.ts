import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonRecord } from './daemon-record';
import { endLeftovers, readLiveDaemon } from './daemon-record';
import type { DaemonStarter } from './daemon-starter';
import { createDaemonStarter } from './daemon-starter';
import { touchContact } from './idle-watch';
import { readLiveHolder } from './lock';
import { canConnect } from './loopback';
import { endProcess } from './process-identity';
import { ServerError } from './server-error';
import type { StateFiles } from './state-directory';
import { openStateDirectory, stateFiles } from './state-directory';
import { findTemporal } from './tool-paths';

export interface EnsureDaemonOptions {
  /** The state directory. */
  readonly home: string;
  /** Id of this build: a daemon of another one is restarted. */
  readonly build: string;
  /** Digest of what the worker takes from the configuration and the environment. */
  readonly configDigest: string;
  /** Whether a daemon with another `configDigest` is restarted or used as it is. */
  readonly restartOnConfigChange: boolean;
  /** The environment of the worker; also says where tools are found. */
  readonly env: Readonly<Record<string, string>>;
  /** The server's setting for throw-away machines. Default false. */
  readonly fast?: boolean;
  /** The daemon stops after this long without an open run and without a client. Default 30 minutes. */
  readonly idleMs?: number;
  /** How long to wait until it is ready. Default 60 s. */
  readonly timeoutMs?: number;
  /** Default: this build's daemon and worker. */
  readonly daemonEntry?: string;
  readonly workerEntry?: string;
}

export interface DaemonAddress {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string;
  readonly hostId: string;
  readonly pid: number;
  readonly build: string;
  readonly logFile: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
// The worker's grace and the server's, and some more.
const STOP_TIMEOUT_MS = 20_000;

/**
 * The address of the daemon of a state directory; starts it if need be and waits until server and worker are up.
 * Any number of callers at once get the same daemon.
 * @param onProgress is called with one line for each thing that takes time.
 * @throws ServerError: `usage` (directory not usable, tool missing), `unavailable` (did not come up; with its log).
 */
export async function ensureDaemon(
  options: EnsureDaemonOptions,
  onProgress: (line: string) => void,
): Promise<DaemonAddress> {
  const files = openStateDirectory(options.home);
  // Before the record is read: a daemon about to stop for idleness looks at it after it has said so.
  touchContact(files);
  const deadline = Date.now() + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const starter = createDaemonStarter(files, onProgress, {
    entry: options.daemonEntry ?? path.join(__dirname, 'daemon-main.js'),
    daemonOptions: async () => ({
      home: options.home,
      build: options.build,
      configDigest: options.configDigest,
      env: { ...options.env },
      temporalBinary: await findTemporal(options.env),
      workerEntry: options.workerEntry ?? path.join(__dirname, '..', 'worker.js'),
      fast: options.fast ?? false,
      idleMs: options.idleMs ?? 30 * 60_000,
    }),
  });
  while (Date.now() < deadline) {
    const address = await step(options, files, { starter, onProgress });
    if (address !== undefined) return address;
    await sleep(POLL_MS);
  }
  throw starter.failure('the local Temporal server and worker did not come up in time.');
}

/** One look at the daemon and what follows from it; an address when it is ready. */
async function step(
  options: EnsureDaemonOptions,
  files: StateFiles,
  { starter, onProgress }: { readonly starter: DaemonStarter; readonly onProgress: (line: string) => void },
): Promise<DaemonAddress | undefined> {
  const record = readLiveDaemon(files);
  if (record === undefined) {
    await starter.startOnce();
    return undefined;
  }
  if (record.state === 'stopping') return undefined;
  const reason = restartReason(record, options, starter.hasStarted());
  if (reason !== undefined) {
    onProgress(`restarting the local server and worker: ${reason}`);
    await stopDaemon(options.home);
    return undefined;
  }
  if (record.state === 'failed') {
    if (record.refused === true) throw new ServerError('usage', record.problem ?? 'the worker cannot start.');
    throw starter.failure(record.problem ?? 'the worker cannot start.');
  }
  const address = record.state === 'ready' ? toAddress(record, files) : undefined;
  return address !== undefined && (await canConnect(address.address)) ? address : undefined;
}

/** Why a live daemon is not the one that is wanted. One that had given up gets another chance, once. */
function restartReason(record: DaemonRecord, wanted: EnsureDaemonOptions, isOurs: boolean): string | undefined {
  if (record.build !== wanted.build) return 'they are of another build (runs go on by themselves)';
  if (wanted.restartOnConfigChange && record.configDigest !== wanted.configDigest) return 'the settings have changed';
  if (record.state === 'failed' && !isOurs) return 'they had given up';
  return undefined;
}

/** The address of a daemon that lives and whose server has been up; undefined otherwise. Starts nothing. */
export function findDaemon(home: string): DaemonAddress | undefined {
  const files = stateFiles(home);
  const record = readLiveDaemon(files);
  return record === undefined ? undefined : toAddress(record, files);
}

/** Tells the daemon that a client still needs it; commands that stay attached call it every few minutes. */
export function keepDaemon(home: string): void {
  touchContact(stateFiles(home));
}

/** Stops the daemon with its server and worker, and whatever a killed one left. Answers after they are gone. */
export async function stopDaemon(home: string): Promise<'stopped' | 'not-running'> {
  const files = stateFiles(home);
  const record = readLiveDaemon(files);
  // One that has just started holds the lock before it has a record.
  const daemon = record ?? readLiveHolder(files.daemonLock);
  const wasRunning = daemon !== undefined && (await endProcess(daemon, STOP_TIMEOUT_MS));
  const hadLeftovers = await endLeftovers(files);
  return wasRunning || hadLeftovers ? 'stopped' : 'not-running';
}

function toAddress(record: DaemonRecord, files: StateFiles): DaemonAddress | undefined {
  const { address, uiUrl, namespace, hostId, pid, build } = record;
  if (address === undefined || uiUrl === undefined) return undefined;
  return { address, uiUrl, namespace, hostId, pid, build, logFile: files.daemonLog };
}
