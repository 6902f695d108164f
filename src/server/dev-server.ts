import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { SEARCH_ATTRIBUTES } from '../contract/names';
import { lastLogLines, logSize, openLog } from './log-file';
import { prepareNamespace } from './namespace';
import type { Ports } from './ports';
import { freePorts } from './ports';
import type { ProcessIdentity } from './process-identity';
import { endProcess, identify } from './process-identity';
import { ServerError } from './server-error';

/** The dev server makes it by itself. */
export const EMBEDDED_NAMESPACE = 'default';

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';
const STOP_GRACE_MS = 5_000;
const START_TIMEOUT_MS = 30_000;

export interface DevServerOptions {
  /** The Temporal CLI, from `findTemporal`. */
  readonly binary: string;
  /** Holds the database and the log; created if need be. */
  readonly directory: string;
  /** For throw-away servers: loses the last moments on a power loss, but not on a kill. 1.5 times the throughput. */
  readonly fast: boolean;
  /** Default: free ones on loopback. */
  readonly ports?: Ports;
  /** Default: `temporal.db` in the directory. */
  readonly databaseFile?: string;
  /** Default: `server.log` in the directory. */
  readonly logFile?: string;
  /** How long to wait until it serves. Default 30 s. */
  readonly startTimeoutMs?: number;
  /** Ends the start (or the server). */
  readonly signal?: AbortSignal;
}

export interface DevServer {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string;
  readonly pid: number;
  readonly identity: ProcessIdentity;
  /** Settles with its exit code (undefined: killed) when the process has ended. */
  readonly exited: Promise<number | undefined>;
  /** Ends it and waits until it is gone. */
  stop(): Promise<void>;
}

/**
 * Starts Temporal's dev server on loopback and waits until it serves: search attributes registered, retention raised.
 * It dies with this process. Nothing of this process's environment (keys) reaches it.
 * @throws ServerError (`unavailable`) with the end of its log when it does not come up; nothing is left running.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const ports = options.ports ?? (await freePorts());
  const logFile = options.logFile ?? path.join(options.directory, 'server.log');
  const databaseFile = options.databaseFile ?? path.join(options.directory, 'temporal.db');
  const logStart = logSize(logFile);
  const child = launch(options, devServerArguments({ ports, databaseFile, fast: options.fast }), logFile);
  const exited = new Promise<number | undefined>((resolve) => {
    child.once('close', (code) => resolve(code ?? undefined)).once('error', () => resolve(undefined));
  });
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  const address = `127.0.0.1:${ports.grpc}`;
  const timeoutMs = options.startTimeoutMs ?? START_TIMEOUT_MS;
  const stop = async (): Promise<void> => {
    // A server that may lose its last moments need not be asked.
    if (identity !== undefined) await endProcess(identity, options.fast ? 0 : STOP_GRACE_MS);
    await exited;
  };
  options.signal?.addEventListener('abort', () => void stop(), { once: true });
  const ready =
    identity !== undefined &&
    (await prepareNamespace({ address, namespace: EMBEDDED_NAMESPACE, timeoutMs, gone: exited }));
  if (!ready) {
    await stop();
    const lines = lastLogLines(logFile, 5, logStart);
    const reason = lines.length === 0 ? 'it wrote nothing to its log' : lines.join('\n  ');
    throw new ServerError('unavailable', `the Temporal server did not start:\n  ${reason}\n  log: ${logFile}`);
  }
  return {
    address,
    namespace: EMBEDDED_NAMESPACE,
    uiUrl: `http://127.0.0.1:${ports.ui}`,
    pid: identity.pid,
    identity,
    exited,
    stop,
  };
}

/** Each of these flags was measured: without them every step waits 50 ms and every timer is rounded up to a second. */
export function devServerArguments(options: {
  readonly ports: Ports;
  readonly databaseFile: string;
  readonly fast: boolean;
}): string[] {
  return [
    ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(options.ports.grpc)],
    ['--ui-port', String(options.ports.ui), '--db-filename', options.databaseFile, '--log-level', 'error'],
    ['--dynamic-config-value', 'history.transferProcessorMaxPollRPS=2000'],
    ['--dynamic-config-value', 'history.timerProcessorMaxTimeShift="10ms"'],
    ['--dynamic-config-value', 'history.timerProcessorMaxPollRPS=2000'],
    // Else each run of a chain lasts a second at least: a brake for endless loops, which tests of chains run into.
    ...(options.fast ? [['--dynamic-config-value', 'history.workflowIdReuseMinimalInterval="0s"']] : []),
    ['--sqlite-pragma', 'journal_mode=WAL'],
    ['--sqlite-pragma', `synchronous=${options.fast ? 'NORMAL' : 'FULL'}`],
    ...Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => ['--search-attribute', `${name}=${type}`]),
  ].flat();
}

function launch(options: DevServerOptions, args: readonly string[], logFile: string): ChildProcess {
  const log = openLog(logFile);
  const [program, ...rest] = [...dieWithParent(), options.binary, ...args];
  try {
    return spawn(program ?? options.binary, rest, {
      cwd: options.directory,
      // Its own HOME, so that a person's Temporal settings do not reach it.
      env: { PATH: SYSTEM_PATH, HOME: options.directory, ...(availableParallelism() <= 2 ? { GOMAXPROCS: '1' } : {}) },
      stdio: ['ignore', log, log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
}

/** The kernel ends the server when this process dies in whatever way: an unwatched one would keep ports and database. */
function dieWithParent(): string[] {
  const setpriv = SYSTEM_PATH.split(':').map((directory) => path.join(directory, 'setpriv'));
  const found = setpriv.find((file) => existsSync(file));
  return found === undefined ? [] : [found, '--pdeathsig', 'KILL'];
}
