import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { ServerError, errorCode } from './server-error';

/** The files of a state directory that the daemon and its clients share. */
export interface StateFiles {
  readonly host: string;
  readonly daemon: string;
  readonly daemonLock: string;
  readonly workerLock: string;
  readonly ports: string;
  /** Its modification time is the last time that a client asked for the daemon. */
  readonly contact: string;
  readonly database: string;
  readonly logs: string;
  /** Structured lines, rotated by the process that writes them. */
  readonly daemonEntries: string;
  readonly workerEntries: string;
  /** What the processes write to their standard output and error: a crash, mostly. */
  readonly daemonLog: string;
  readonly serverLog: string;
  readonly workerLog: string;
}

/** Names only; nothing is created. */
export function stateFiles(home: string): StateFiles {
  const logs = path.join(home, 'logs');
  return {
    host: path.join(home, 'host.json'),
    daemon: path.join(home, 'daemon.json'),
    daemonLock: path.join(home, 'daemon.lock'),
    workerLock: path.join(home, 'worker.lock'),
    ports: path.join(home, 'ports.json'),
    contact: path.join(home, 'contact'),
    database: path.join(home, 'temporal.db'),
    logs,
    daemonEntries: path.join(logs, 'daemon.jsonl'),
    workerEntries: path.join(logs, 'worker.jsonl'),
    daemonLog: path.join(logs, 'daemon.log'),
    serverLog: path.join(logs, 'server.log'),
    workerLog: path.join(logs, 'worker.log'),
  };
}

/**
 * Creates the state directory if need be (mode 0700: it holds transcripts) and makes sure that it can be used.
 * @throws ServerError (`usage`) when it cannot.
 */
export function openStateDirectory(home: string): StateFiles {
  const files = stateFiles(home);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    if (!statSync(home).isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    mkdirSync(files.logs, { recursive: true, mode: 0o700 });
    accessSync(files.logs, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ServerError(
      'usage',
      `the state directory ${home} cannot be used (${errorCode(error) ?? String(error)}). ` +
        'Make it writable for this user, or set SUREHAND_HOME to another directory.',
      { cause: error },
    );
  }
  return files;
}
