import { existsSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import type { Config } from '../config';
import { configDigest, workerEnv } from '../config';
import { EXIT_CODES, EXIT_USAGE } from '../contract/outcome';
import type { DaemonAddress } from '../server/daemon-client';
import { ensureDaemon, findDaemon, keepDaemon } from '../server/daemon-client';
import { readDaemonRecord } from '../server/daemon-record';
import { openHost } from '../server/host';
import { stateFiles } from '../server/state-directory';
import { connectClient } from '../temporal/connection';
import type { TemporalClient, TemporalTarget } from '../temporal/connection';
import { hostQueue, workflowQueue } from '../temporal/queues';
import { CliError } from './cli-error';
import type { Io } from './io';
import { buildId } from './package-root';
import { grpcCode } from './report-error';

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
const NOT_FOUND = 5;
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
  const connected = await connect(target);
  await checkNamespace(connected, target);
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
    ensureDaemon(
      {
        home: config.home,
        build: buildId(),
        configDigest: configDigest(config),
        restartOnConfigChange,
        env: workerEnv(config),
        fast: config.embedded.fast,
        idleMs: config.embedded.idleMs,
        timeoutMs: config.embedded.startTimeoutMs,
      },
      (line) => io.say(io.colors.dim(`surehand: ${line}`)),
    );
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

async function connect(target: TemporalTarget | DaemonAddress): Promise<TemporalClient> {
  try {
    return await connectClient({ ...target, namespace: target.namespace }, CONNECT_TIMEOUT_MS);
  } catch (error) {
    // Credentials and the like have their own sentence.
    const code = grpcCode(error);
    if (code === 7 || code === 16) throw error;
    throw new CliError(
      EXIT_CODES.unavailable,
      `No Temporal server is reachable at ${target.address}. Start it, or correct TEMPORAL_ADDRESS (unset, surehand runs its own server).`,
      { cause: error },
    );
  }
}

async function checkNamespace({ client }: TemporalClient, target: TemporalTarget): Promise<void> {
  try {
    await client.withDeadline(Date.now() + CONNECT_TIMEOUT_MS, () =>
      client.workflowService.describeNamespace({ namespace: target.namespace }),
    );
  } catch (error) {
    if (grpcCode(error) !== NOT_FOUND) throw error;
    throw new CliError(
      EXIT_USAGE,
      `The Temporal server at ${target.address} has no namespace "${target.namespace}". Create it, or correct TEMPORAL_NAMESPACE.`,
      { cause: error },
    );
  }
}
