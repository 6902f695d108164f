import { existsSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import type { Config } from '../config';
import { EXIT_CODES } from '../contract/outcome';
import type { DaemonAddress } from '../server/daemon-client';
import { findDaemon, keepDaemon } from '../server/daemon-client';
import { readDaemonRecord } from '../server/daemon-record';
import { openHost } from '../server/host';
import { stateFiles } from '../server/state-directory';
import { connectClient } from '../temporal/connection';
import type { TemporalClient, TemporalTarget } from '../temporal/connection';
import { openConnection } from '../temporal/open-connection';
import { hostQueue, workflowQueue } from '../temporal/queues';
import { CliError } from './cli-error';
import type { Io } from './io';
import { ensureLocalDaemon } from './local-daemon';

/**
 * The way to Temporal for one command. `client` changes when the way had to be found again. It is never closed: the
 * process ends soon, and closing a connection under a waiting call throws from a timer.
 */
export interface Session {
  readonly client: Client;
  readonly namespace: string;
  readonly embedded: boolean;
  readonly hostId: string;
  readonly hostQueue: string;
  /** Where runs of this session are started. */
  readonly workflowQueue: string;
  /** The run in the Web UI, where its address is known. */
  uiLink(workflowId: string, runId: string): string | undefined;
  /**
   * Says that somebody is still there, and starts the daemon again if it died. True if the way is a new one.
   * @throws CliError, ServerError when there is none any more.
   */
  keepAlive(): Promise<boolean>;
}

const CONNECT_TIMEOUT_MS = 3_000;
const STOPPED_AFTER_MS = 5_000;

/**
 * Connects to the configured server, or to the embedded one, which is started if need be.
 * @param options.starts the command starts a run with the present settings, so the worker must have them.
 * @throws CliError when it cannot be reached or refuses us.
 */
export async function openSession(config: Config, io: Io, options: { readonly starts: boolean }): Promise<Session> {
  return config.temporal.mode === 'embedded'
    ? openEmbedded(config, io, options.starts)
    : openServer(config, config.temporal.target);
}

/** Whether there can be anything to look at: an embedded server that never ran has no runs. */
export function hasState(config: Config): boolean {
  return config.temporal.mode === 'server' || existsSync(stateFiles(config.home).database);
}

async function openServer(config: Config, target: TemporalTarget): Promise<Session> {
  const { hostId } = openHost(config.home);
  const connected = await openConnection(target, CONNECT_TIMEOUT_MS);
  return {
    client: connected.client,
    namespace: target.namespace,
    embedded: false,
    hostId,
    hostQueue: hostQueue(config.queuePrefix, hostId),
    workflowQueue: workflowQueue(config.queuePrefix),
    uiLink: () => undefined,
    keepAlive: () => Promise.resolve(false),
  };
}

async function openEmbedded(config: Config, io: Io, starts: boolean): Promise<Session> {
  const findWay = (restartOnConfigChange: boolean): Promise<DaemonAddress> =>
    ensureLocalDaemon(config, io, { restartOnConfigChange });
  let daemon = await findWay(starts);
  let connected = await connect(daemon);
  let missingSince: number | undefined;
  const queue = hostQueue(config.queuePrefix, daemon.hostId);
  return {
    get client() {
      return connected.client;
    },
    namespace: daemon.namespace,
    embedded: true,
    hostId: daemon.hostId,
    hostQueue: queue,
    // Eager dispatch needs one queue for workflow and activities, and there is only this host.
    workflowQueue: queue,
    uiLink: (workflowId, runId) =>
      `${daemon.uiUrl}/namespaces/${daemon.namespace}/workflows/${encodeURIComponent(workflowId)}/${runId}/history`,
    keepAlive: async () => {
      if (findDaemon(config.home) !== undefined) {
        missingSince = undefined;
        keepDaemon(config.home);
        return false;
      }
      // A killed daemon leaves its record; without one it was stopped on purpose, or another command restarts it now.
      if (readDaemonRecord(stateFiles(config.home)) === undefined) {
        missingSince ??= Date.now();
        if (Date.now() - missingSince > STOPPED_AFTER_MS) throw stoppedOnPurpose();
        return false;
      }
      daemon = await findWay(false);
      // Also at the same address: the old connection would wait out its back-off.
      connected = await connect(daemon);
      return true;
    },
  };
}

function stoppedOnPurpose(): CliError {
  return new CliError(
    EXIT_CODES.unavailable,
    'The local server and worker were stopped, so this command ends. The run is kept and goes on at the next command.',
  );
}

async function connect(target: DaemonAddress): Promise<TemporalClient> {
  try {
    return await connectClient({ ...target, namespace: target.namespace }, CONNECT_TIMEOUT_MS);
  } catch (error) {
    throw new CliError(
      EXIT_CODES.unavailable,
      `The local Temporal server does not answer at ${target.address}. Its log: ${target.logFile}`,
      { cause: error },
    );
  }
}
