import type { Client } from '@temporalio/client';

const KINDS = { workflow: 1, activity: 2 } as const;
/** A worker asks again at least this often; one that was killed stays on the server's list for minutes. */
const POLLER_GONE_MS = 75_000;
const TIMEOUT_MS = 3_000;

export interface QueueQuestion {
  readonly queue: string;
  readonly kind: keyof typeof KINDS;
}

/** A worker that asked for work lately. */
export interface Poller {
  readonly identity: string;
  /** Milliseconds since the epoch. */
  readonly lastAccessAt: number;
  /** Id of the worker's build, where it says so. */
  readonly build?: string;
}

/** Who polls a queue, the latest first; what has not asked for over a minute is left out. @throws the gRPC error. */
export async function livePollers(client: Client, { queue, kind }: QueueQuestion, now: number): Promise<Poller[]> {
  const { namespace } = client.options;
  const { pollers } = await client.withDeadline(Date.now() + TIMEOUT_MS, () =>
    client.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType: KINDS[kind] }),
  );
  return pollers
    .map((poller) => ({
      identity: poller.identity ?? '',
      lastAccessAt: toMs(poller.lastAccessTime),
      ...(poller.deploymentOptions?.buildId ? { build: poller.deploymentOptions.buildId } : {}),
    }))
    .filter(({ lastAccessAt }) => now - lastAccessAt < POLLER_GONE_MS)
    .sort((a, b) => b.lastAccessAt - a.lastAccessAt);
}

/** Of a protobuf timestamp; 0 when it is missing. */
export function toMs(time: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined): number {
  return time === null || time === undefined
    ? 0
    : Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6);
}
