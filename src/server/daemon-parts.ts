import { writeJsonFile } from './atomic-file';
import type { DaemonOptions } from './daemon-options';
import type { DaemonRecord } from './daemon-record';
import type { DevServer } from './dev-server';
import { EMBEDDED_NAMESPACE, startDevServer } from './dev-server';
import type { KeptPart, RunningPart } from './keep-running';
import { keepRunning } from './keep-running';
import { lastLogLines, logSize } from './log-file';
import type { DaemonLog } from './logger';
import { keptPorts } from './ports';
import type { StateFiles } from './state-directory';
import { startWorker } from './worker-process';

/** A worker that says so often in a row that it cannot work (exit code 2) is not started again. */
const REFUSALS_ACCEPTED = 5;
const EXIT_USAGE = 2;
/** Of what a worker wrote to its standard error before it ended. */
const LINES_KEPT = 40;

/** What the parts of a running daemon share. */
export interface DaemonContext {
  readonly options: DaemonOptions;
  readonly files: StateFiles;
  readonly log: DaemonLog;
  readonly record: () => DaemonRecord;
  /** Changes the record and writes it. */
  readonly update: (change: Partial<DaemonRecord>) => void;
}

export function createDaemonContext(
  options: DaemonOptions,
  deps: { readonly files: StateFiles; readonly record: DaemonRecord; readonly log: DaemonLog },
): DaemonContext {
  let { record } = deps;
  return {
    options,
    files: deps.files,
    log: deps.log,
    record: () => record,
    update: (change) => {
      record = { ...record, ...change };
      writeJsonFile(deps.files.daemon, record);
    },
  };
}

/** Keeps server and worker running, and the record true. */
export function keepBoth(context: DaemonContext): { readonly server: KeptPart; readonly worker: KeptPart } {
  const addresses = createAddressBook();
  const state = { serverIsUp: false, workerIsUp: false };
  const readiness = (): Partial<DaemonRecord> =>
    isFinal(context.record().state) ? {} : { state: state.serverIsUp && state.workerIsUp ? 'ready' : 'starting' };

  const server = keepRunning<DevServer>({
    name: 'server',
    log: context.log,
    start: (signal) => startServer(context, signal),
    onUp: ({ address, uiUrl, identity }) => {
      state.serverIsUp = true;
      context.log(`server is up at ${address} (pid ${identity.pid})`);
      const moved = addresses.set(address);
      context.update({
        address,
        uiUrl,
        serverPid: identity.pid,
        serverStartTime: identity.startTime,
        ...readiness(),
      });
      if (moved) void worker.restart();
    },
    onDown: () => {
      state.serverIsUp = false;
      context.update(readiness());
      return {};
    },
  });

  const words = createLastWords(context);
  const worker = keepRunning<RunningPart>({
    name: 'worker',
    log: context.log,
    start: async (signal) => {
      const start = await workerOptions(context, addresses.get(signal));
      words.begin();
      return startWorker(start, signal);
    },
    onUp: ({ identity }) => {
      state.workerIsUp = true;
      words.forget();
      context.log(`worker is ready (pid ${identity.pid})`);
      context.update(readiness());
    },
    onDown: (exitCode, refusal) => {
      state.workerIsUp = false;
      const problem = words.problem(exitCode, refusal);
      if (problem === undefined) {
        context.update(readiness());
        return {};
      }
      context.update({ state: 'failed', problem, refused: refusal !== undefined });
      return { giveUp: problem };
    },
  });
  return { server, worker };
}

interface LastWords {
  /** A worker is about to start. */
  begin(): void;
  /** It came up: what the ones before it said does not count any more. */
  forget(): void;
  /** It has ended: logs what it wrote to its standard error, and answers why it need not be started again. */
  problem(exitCode: number | undefined, refusal: string | undefined): string | undefined;
}

function createLastWords({ files, log }: DaemonContext): LastWords {
  let refusals = 0;
  let from = 0;
  return {
    begin: () => (from = logSize(files.workerLog)),
    forget: () => (refusals = 0),
    problem: (exitCode, refusal) => {
      const lines = lastLogLines(files.workerLog, LINES_KEPT, from);
      if (lines.length > 0) log(`the worker’s last words:\n${lines.join('\n')}`, 'warn');
      refusals = exitCode === EXIT_USAGE ? refusals + 1 : 0;
      if (refusal !== undefined) return refusal;
      return refusals < REFUSALS_ACCEPTED ? undefined : `the worker cannot start:\n  ${lines.slice(-5).join('\n  ')}`;
    },
  };
}

/** Late news of server and worker do not change these. */
function isFinal(state: DaemonRecord['state']): boolean {
  return state === 'failed' || state === 'stopping';
}

async function startServer({ options, files, log }: DaemonContext, signal: AbortSignal): Promise<DevServer> {
  const { ports, replaced } = await keptPorts(files.ports);
  if (replaced !== undefined) {
    log(`port ${replaced.grpc} or ${replaced.ui} is taken by another process; using ${ports.grpc} and ${ports.ui}`);
  }
  return startDevServer({
    binary: options.temporalBinary,
    directory: options.home,
    fast: options.fast,
    ports,
    databaseFile: files.database,
    logFile: files.serverLog,
    signal,
  });
}

async function workerOptions(
  { options, files, update }: DaemonContext,
  address: Promise<string>,
): Promise<Parameters<typeof startWorker>[0]> {
  return {
    entry: options.workerEntry,
    home: options.home,
    env: options.env,
    address: await address,
    namespace: EMBEDDED_NAMESPACE,
    logFile: files.workerLog,
    // Recorded before it is ready: a daemon that is killed now must still be cleaned up after.
    onSpawn: ({ identity }) => update({ workerPid: identity.pid, workerStartTime: identity.startTime }),
  };
}

/** The server's address, once it is known. `set` answers whether it differs from the one before. */
function createAddressBook(): { get(signal: AbortSignal): Promise<string>; set(address: string): boolean } {
  let address: string | undefined;
  let announce: (address: string) => void = () => undefined;
  const first = new Promise<string>((resolve) => (announce = resolve));
  return {
    get: (signal) =>
      address !== undefined
        ? Promise.resolve(address)
        : new Promise((resolve, reject) => {
            void first.then(resolve);
            signal.addEventListener('abort', () => reject(new Error('stopped before the server was up')));
          }),
    set: (next) => {
      const moved = address !== undefined && address !== next;
      address = next;
      announce(next);
      return moved;
    },
  };
}
