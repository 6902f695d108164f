import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

export interface HistoryQuery {
  readonly workflowId: string;
  /** First run of the chain, or with `followChain: false` the one run to read. Default: the newest run's chain. */
  readonly runId?: string;
  /** Keep waiting for new events until the chain is closed. */
  readonly waitForNew?: boolean;
  /** Go on with the next run when this one continued as new. Default true. */
  readonly followChain?: boolean;
  /** Events a page may have at most; halved when a page is too large for the transport. */
  readonly pageSize?: number;
}

export interface HistoryPage {
  readonly runId: string;
  readonly events: readonly HistoryEvent[];
}

/** gRPC RESOURCE_EXHAUSTED */
const RESOURCE_EXHAUSTED = 8;
/** gRPC NOT_FOUND */
const NOT_FOUND = 5;
const DEFAULT_PAGE = 500;

/**
 * Pages of history, oldest first, run by run along the chain. Strongly consistent, and needs no worker.
 * Ends at the end of the chain, or of what there is now when `waitForNew` is not set, or when `signal` aborts.
 * @throws the gRPC error (NOT_FOUND for an unknown id).
 */
export async function* historyPages(
  client: Client,
  query: HistoryQuery,
  signal?: AbortSignal,
): AsyncGenerator<HistoryPage> {
  const { runId: asked, workflowId } = query;
  const known = asked !== undefined && query.followChain === false ? [asked] : await chainOf(client, workflowId, asked);
  for (let runId = known.shift(); runId !== undefined;) {
    let next: string | undefined;
    for await (const events of runPages(client, { ...query, runId }, signal)) {
      next = nextRunOf(events) ?? next;
      yield { runId, events };
    }
    if (query.followChain === false || isAborted(signal)) return;
    runId = known.shift() ?? next;
  }
}

/**
 * The runs of the chain that began with `firstRunId` (default: of the newest run), oldest first. Found from its newest run
 * backwards: a reset starts a run that its predecessor does not name, and that tells everything up to the reset itself.
 */
async function chainOf(client: Client, workflowId: string, firstRunId?: string): Promise<string[]> {
  const { namespace } = client.options;
  const execution = { workflowId };
  const { workflowExecutionInfo: info } = await client.workflowService.describeWorkflowExecution({
    namespace,
    execution,
  });
  const newest = info?.execution?.runId ?? '';
  if (firstRunId !== undefined && info?.firstRunId && info.firstRunId !== firstRunId) return [firstRunId];
  const chain: string[] = [];
  for (let runId: string | undefined = newest; runId !== undefined && runId !== '';) {
    chain.unshift(runId);
    runId = await previousRunOf(client, workflowId, runId);
  }
  return chain;
}

/** `undefined` for the first run of a chain, and where retention has taken the run before. */
async function previousRunOf(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  const { namespace } = client.options;
  const page = await client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const previous = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  if (!previous) return undefined;
  try {
    await client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId, runId: previous } });
    return previous;
  } catch (error) {
    if (codeOf(error) === NOT_FOUND) return undefined;
    throw error;
  }
}

async function* runPages(
  client: Client,
  query: HistoryQuery & { readonly runId: string },
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly HistoryEvent[]> {
  let pageSize = query.pageSize ?? DEFAULT_PAGE;
  let token: Uint8Array | undefined;
  while (!isAborted(signal)) {
    try {
      const response = await withSignal(client, signal, () =>
        client.workflowService.getWorkflowExecutionHistory({
          namespace: client.options.namespace,
          execution: { workflowId: query.workflowId, runId: query.runId },
          maximumPageSize: pageSize,
          waitNewEvent: query.waitForNew === true,
          ...(token === undefined ? {} : { nextPageToken: token }),
        }),
      );
      const events = response.history?.events ?? [];
      if (events.length > 0) yield events;
      token = response.nextPageToken;
      if (token.length === 0) return;
    } catch (error) {
      if (isAborted(signal)) return;
      if (codeOf(error) !== RESOURCE_EXHAUSTED || pageSize === 1) throw error;
      pageSize = Math.max(1, Math.floor(pageSize / 2));
    }
  }
}

function withSignal<T>(client: Client, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  return signal === undefined ? call() : client.connection.withAbortSignal(signal, call);
}

function nextRunOf(events: readonly HistoryEvent[]): string | undefined {
  const last = events[events.length - 1];
  const next =
    last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ||
    last?.workflowExecutionCompletedEventAttributes?.newExecutionRunId ||
    last?.workflowExecutionFailedEventAttributes?.newExecutionRunId;
  return next || undefined;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** Bytes of an event as it is stored. */
export function eventBytes(event: HistoryEvent): number {
  return temporal.api.history.v1.HistoryEvent.encode(event).finish().length;
}
