import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT_CODES } from '../contract/outcome';
import { createCodecs } from '../temporal/data-converter';
import { historyPages } from '../temporal/history';
import { createRunViewer } from '../transcript/run-view';
import type { RunView } from '../transcript/view';
import { CliError } from './cli-error';
import { formatDuration } from './format';
import { firstRunId } from './start-run';
import { isTransient, toCliError } from './report-error';
import type { Session } from './session';

export interface FollowOptions {
  readonly workflowId: string;
  /** First run of the chain to follow; default: the current run. */
  readonly runId?: string;
  readonly signal: AbortSignal;
  /** Called after each page of history; after a broken connection from the first page on again. */
  readonly onView: (view: RunView) => void;
  /** A line for people about the connection. */
  readonly onTrouble: (line: string) => void;
  /** How long the server may be away before the command gives up. */
  readonly patienceMs: number;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;
const KEEP_ALIVE_MS = 2_000;

/**
 * Follows a run until it is closed, through restarts of the server, and answers its last view; `undefined` when
 * `signal` ended it.
 * @throws CliError (exit code 6) when the server stays away or was stopped; the gRPC error for an unknown id.
 */
export async function followRun(session: Session, options: FollowOptions): Promise<RunView | undefined> {
  let awaySince: number | undefined;
  let waitMs = FIRST_WAIT_MS;
  while (!options.signal.aborted) {
    const way = new AbortController();
    const keeper = keepWay(session, way);
    const signal = AbortSignal.any([options.signal, way.signal]);
    // Each long poll leaves one, which is meant; Node would warn about it on stderr.
    setMaxListeners(0, signal);
    try {
      const view = await readToEnd(session, signal, options, () => {
        if (awaySince !== undefined) options.onTrouble('The server is back; going on.');
        awaySince = undefined;
        waitMs = FIRST_WAIT_MS;
      });
      if (view?.closed === true && !(await wasReset(session, view))) return view;
      if (keeper.failure() !== undefined) throw keeper.failure();
    } catch (error) {
      if (isAborted(options.signal)) return undefined;
      if (keeper.failure() !== undefined) throw keeper.failure();
      if (!isTransient(error)) throw error;
      awaySince ??= announce(error, options);
      if (Date.now() - awaySince > options.patienceMs) throw goneTooLong(error, options.patienceMs);
    } finally {
      keeper.stop();
    }
    await sleep(waitMs, undefined, { signal: options.signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
  return undefined;
}

/** A reset ends a run and goes on in another, which only the server knows. */
async function wasReset(session: Session, view: RunView): Promise<boolean> {
  if (view.closeStatus !== 'terminated') return false;
  const newest = await session.client.workflow.getHandle(view.workflowId).describe();
  return newest.status.name === 'RUNNING' && firstRunId(newest) === view.runId;
}

async function readToEnd(
  session: Session,
  signal: AbortSignal,
  options: FollowOptions,
  onPage: () => void,
): Promise<RunView | undefined> {
  const { workflowId, runId } = options;
  const viewer = createRunViewer(workflowId, { codecs: createCodecs() });
  const query = { workflowId, ...(runId === undefined ? {} : { runId }), waitForNew: true };
  for await (const page of historyPages(session.client, query, signal)) {
    await viewer.push(page);
    onPage();
    const view = viewer.view();
    if (view !== undefined) options.onView(view);
  }
  return viewer.view();
}

/** A dead daemon is started again while a read waits for the server to come back; one that cannot be ends the read. */
function keepWay(session: Session, way: AbortController): { stop(): void; failure(): unknown } {
  let busy = false;
  let failure: unknown;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    session
      .keepAlive()
      .then((isNew) => {
        if (isNew) way.abort();
      })
      .catch((error: unknown) => {
        failure = error;
        way.abort();
      })
      .finally(() => {
        busy = false;
      });
  }, KEEP_ALIVE_MS);
  return { stop: () => clearInterval(timer), failure: () => failure };
}

/** Not seen through by the compiler, which takes it for unchanged within the loop. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function announce(error: unknown, { onTrouble }: FollowOptions): number {
  const code = error instanceof Error ? toCliError(error).message : String(error);
  onTrouble(`The connection to Temporal broke; the run is not affected. Trying again. (${code})`);
  return Date.now();
}

function goneTooLong(cause: unknown, patienceMs: number): CliError {
  return new CliError(
    EXIT_CODES.unavailable,
    `Temporal was away for ${formatDuration(patienceMs)}, so this command gave up; the run goes on when it is back.`,
    { cause },
  );
}
