import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { connectClient } from '../temporal/connection';
import { firstRunOf, isRunClosed } from '../temporal/run-state';
import type { RunRef } from '../transcript/window-cache';
import type { Lease, LeasePlace, WorkspaceLeases } from '../workspace/lease';
import { liveCommandsOf } from '../workspace/live-commands';
import type { LeaseHolder } from './host';

/** What can be found out about a state directory of this machine, this worker's own or another. */
export interface StateDirectories {
  /** Undefined when the directory is gone, or holds no readable identity any more. */
  hostIdOf(home: string): string | undefined;
  /** Where its embedded server answers; undefined while its daemon is down. */
  daemonOf(home: string): { readonly address: string; readonly namespace: string } | undefined;
}

export interface LeaseKeeperOptions {
  readonly client: Client;
  readonly leases: WorkspaceLeases;
  /** Of this worker. */
  readonly place: LeasePlace;
  readonly directories: StateDirectories;
  /** Awaited whenever a run has been found to hold the workspace, before it changes anything. */
  readonly onTaken?: (workspace: string, holder: LeaseHolder) => Promise<void>;
}

/** One run at a time changes a workspace. A run of this worker takes the lease when it begins, and again before each change. */
export interface LeaseKeeper {
  /** @returns why the workspace is not to be had, naming the holder; undefined when this run has it now. */
  readonly take: (workspace: string, holder: LeaseHolder) => Promise<string | undefined>;
  /** The same for any run of the chain, which may have given the lease back meanwhile. */
  readonly takeFor: (workspace: string, run: RunRef) => Promise<string | undefined>;
  readonly giveBack: (workspace: string, holder: LeaseHolder) => Promise<void>;
}

export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { client, leases, place } = options;
  const firstRuns = new LRUCache<string, string>({ max: 1_000 });
  const take: LeaseKeeper['take'] = async (workspace, { workflowId, firstRunId }) => {
    const lease = await leases.acquire(workspace, { workflowId, firstRunId, place }, (holder) =>
      isFree(options, holder),
    );
    if (!lease.ok) return describeHolder(workspace, lease.holder, place);
    await options.onTaken?.(workspace, { workflowId, firstRunId });
    return undefined;
  };
  return {
    take,
    takeFor: async (workspace, run) => {
      const firstRunId = firstRuns.get(run.runId) ?? (await firstRunOf(client, run));
      firstRuns.set(run.runId, firstRunId);
      return take(workspace, { workflowId: run.workflowId, firstRunId });
    },
    giveBack: (workspace, { workflowId, firstRunId }) => leases.release(workspace, { workflowId, firstRunId }),
  };
}

/** Whether a holder will change nothing any more: its run is over and none of its commands lives. */
async function isFree(options: LeaseKeeperOptions, holder: Lease): Promise<boolean> {
  const { client, directories } = options;
  const { workflowId, firstRunId, place = options.place } = holder;
  if (isSameServer(place, options.place)) {
    if (!(await isRunClosed(client, workflowId, firstRunId))) return false;
    // A newer run under the same id may have commands of its own, in another workspace.
    return haveEnded(holder, place, (await isRunClosed(client, workflowId)) ? 'stop' : 'wait');
  }
  // Without its state directory no worker will ever serve its host again.
  if (directories.hostIdOf(place.home) !== place.hostId) return haveEnded(holder, place, 'stop');
  return (await isOverElsewhere(directories, holder, place)) && haveEnded(holder, place, 'wait');
}

/** Commands that no run owns are ended, as at a worker's start; those of another worker are its own to end. */
async function haveEnded({ workflowId }: Lease, { home }: LeasePlace, otherwise: 'stop' | 'wait'): Promise<boolean> {
  const live = await liveCommandsOf(home, workflowId);
  if (otherwise === 'wait') return live.length === 0;
  for (const command of live) await command.stop();
  return true;
}

function isSameServer(a: LeasePlace, b: LeasePlace): boolean {
  if (a.server.embedded !== b.server.embedded) return false;
  if (a.server.embedded) return a.home === b.home;
  return a.server.address === b.server.address && a.server.namespace === b.server.namespace;
}

/** A run of another server. A daemon that is down says nothing: it comes back at the next command, and the run goes on. */
async function isOverElsewhere(directories: StateDirectories, holder: Lease, place: LeasePlace): Promise<boolean> {
  const target = place.server.embedded ? directories.daemonOf(place.home) : place.server;
  return target !== undefined && (await isClosedAt(target, holder));
}

const ASK_TIMEOUT_MS = 2_000;

/** False also when that server does not answer us. */
async function isClosedAt(
  { address, namespace }: { readonly address: string; readonly namespace: string },
  { workflowId, firstRunId }: Lease,
): Promise<boolean> {
  try {
    const other = await connectClient({ address, namespace }, ASK_TIMEOUT_MS);
    try {
      const deadline = Date.now() + ASK_TIMEOUT_MS;
      return await other.client.withDeadline(deadline, () => isRunClosed(other.client, workflowId, firstRunId));
    } finally {
      await other.close();
    }
  } catch {
    return false;
  }
}

function describeHolder(workspace: string, { workflowId, place }: Lease, own: LeasePlace): string {
  const other = place === undefined || isSameServer(place, own) ? undefined : otherWorld(place);
  const run = `the run ${workflowId}${other === undefined ? '' : ` (${other.name})`}`;
  const cancel = `${other?.settings ?? ''}surehand cancel ${workflowId}`;
  return `${workspace} is being changed by ${run}; wait for it, or end it with \`${cancel}\``;
}

/** What to call it, and the settings with which a command reaches it. */
function otherWorld({ home, server }: LeasePlace): { readonly name: string; readonly settings: string } {
  if (server.embedded) return { name: `of the state directory ${home}`, settings: `SUREHAND_HOME=${home} ` };
  const { address, namespace } = server;
  const settings = `TEMPORAL_ADDRESS=${address} TEMPORAL_NAMESPACE=${namespace} `;
  return { name: `of the server ${address}, namespace ${namespace}`, settings };
}
