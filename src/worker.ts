import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from './activities/activities';
import type { Host } from './activities/host';
import { handBack } from './activities/hand-back';
import { readRun } from './activities/read-run';
import { createRedactor } from './activities/redactor';
import { createToolboxes } from './activities/run-toolbox';
import { createWorlds } from './activities/run-world';
import { createWorkspaces } from './activities/workspaces';
import { ConfigError, loadConfig, secrets, type Config } from './config';
import type { SandboxState } from './contract/activity';
import { EXIT_USAGE } from './contract/outcome';
import { createModels } from './model/models';
import { costUsd } from './model/prices';
import { systemPrompt } from './prompts/system-prompt';
import { openHost, readHost } from './server/host';
import { tryLock } from './server/lock';
import { identify } from './server/process-identity';
import { ServerError } from './server/server-error';
import { stateFiles } from './server/state-directory';
import { findBwrap } from './server/tool-paths';
import { connectClient, connectionOptions, type TemporalClient } from './temporal/connection';
import { createDataConverter } from './temporal/data-converter';
import { isRunClosed } from './temporal/run-state';
import { hostQueue, workflowQueue } from './temporal/queues';
import { BUILTIN_TOOLS } from './tools/builtin-tools';
import { createToolRegistry } from './tools/registry';
import { createWindows } from './transcript/window-cache';
import { createWorkspaceLeases } from './workspace/lease';
import { probeSandbox } from './workspace/sandbox-probe';

const WINDOW_CACHE_BYTES = 256 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_CONCURRENT_MODEL_CALLS = 20;

/** The parts of a host, put together. The one place where ports meet their adapters. */
function composeHost({ config, temporal, sandbox, hostId, log }: HostParts): Host {
  const worldOf = createWorlds({
    stateDirectory: config.home,
    sandbox,
    nodePath: process.execPath,
    demoRoot: config.demoRoot,
    ...(sandbox.bwrapPath === undefined ? {} : { bwrapPath: sandbox.bwrapPath }),
  });
  return {
    windows: createWindows({
      readRun: (run, mode) => readRun(temporal.client, run, mode),
      maxBytes: config.worker.windowCache ? WINDOW_CACHE_BYTES : 0,
    }),
    models: createModels({
      endpoints: config.endpoints,
      idleMs: config.worker.modelIdleMs,
      timeoutMs: config.timeouts.modelCallMs,
      maxConcurrentPerEndpoint: MAX_CONCURRENT_MODEL_CALLS,
      onWarning: (text) => {
        log('warning', { text });
      },
    }),
    toolbox: createToolboxes({
      registry: createToolRegistry(BUILTIN_TOOLS),
      worldOf,
      stateDirectory: config.home,
      isRunClosed: (workflowId) => isRunClosed(temporal.client, workflowId),
      isJournalOurs: () => readHost(config.home)?.hostId === hostId,
      log: ({ step, ...fields }) => {
        log(`tool ${step}`, fields);
      },
    }),
    workspaces: createWorkspaces({
      client: temporal.client,
      leases: createWorkspaceLeases(config.leaseDirectory),
      worldOf,
    }),
    systemPrompt,
    costUsd,
    redact: createRedactor(secrets(config)),
  };
}

interface HostParts {
  readonly config: Config;
  readonly temporal: TemporalClient;
  readonly sandbox: HostSandbox;
  readonly hostId: string;
  readonly log: Log;
}

interface HostSandbox extends SandboxState {
  readonly bwrapPath?: string;
}

type Log = (text: string, fields: Readonly<Record<string, unknown>>) => void;

/** Tries the sandbox of this host, as the configuration wants it. */
async function findSandbox(config: Config): Promise<HostSandbox> {
  if (config.worker.sandbox === 'off') return { mode: 'off', detail: 'switched off by the operator of the worker' };
  const bwrapPath = config.worker.bwrapPath ?? (await findBwrap(config.env));
  if (bwrapPath === undefined) return { mode: 'broken', detail: 'bwrap is not installed' };
  const probe = await probeSandbox({ bwrapPath, nodePath: process.execPath, scratchDirectory: config.home });
  return { mode: probe.mode, detail: probe.detail, bwrapPath };
}

async function main(): Promise<void> {
  // The embedded worker belongs to its daemon and ends with it, also while it boots.
  process.once('disconnect', () => process.exit(0));
  const config = loadConfig(process.env);
  if (config.temporal.mode === 'embedded') {
    throw new ConfigError('No Temporal server is configured. Set TEMPORAL_ADDRESS to HOST:PORT.');
  }
  const log: Log = (text, fields) =>
    process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), text, ...fields })}\n`);
  Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: ['SIGTERM', 'SIGINT'] });
  const { hostId, warning } = openHost(config.home);
  if (warning !== undefined) log('warning', { text: warning });
  const lock = await lockHost(config);
  const { target } = config.temporal;
  const [sandbox, temporal, connection] = await Promise.all([
    findSandbox(config),
    connectClient(target, CONNECT_TIMEOUT_MS),
    NativeConnection.connect(connectionOptions(target)),
  ]);
  const host = composeHost({ config, temporal, sandbox, hostId, log });
  const identity = `surehand@${hostId}#${randomUUID().slice(0, 8)}`;
  const workers = await createWorkers(config, { connection, namespace: target.namespace, identity, hostId, host });
  const { client } = temporal;
  await handBack({ client, hostId, identity, stateDirectory: config.home, log });
  const running = Promise.all(workers.map((worker) => worker.run()));
  process.send?.({ type: 'ready', hostId, identity });
  log('worker ready', { hostId, identity, sandbox: sandbox.mode, detail: sandbox.detail });
  await running;
  await temporal.close();
  await connection.close();
  lock.release();
  // An open channel would keep this process alive.
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}

async function lockHost(config: Config): Promise<{ release(): void }> {
  const self = identify(process.pid);
  if (self === undefined) throw new ServerError('usage', 'the process table cannot be read');
  const attempt = await tryLock(stateFiles(config.home).workerLock, { ...self });
  if (attempt.held) return attempt.lock;
  const holder = attempt.holder === undefined ? 'another process' : `process ${String(attempt.holder.pid)}`;
  throw new ServerError(
    'usage',
    `${holder} already serves ${config.home}; one worker at a time serves a state directory`,
  );
}

interface WorkerParts {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly identity: string;
  readonly hostId: string;
  readonly host: Host;
}

/** Embedded there is one host, and one queue lets the server dispatch eagerly; on a cluster workflows stay on the shared queue. */
async function createWorkers(config: Config, parts: WorkerParts): Promise<Worker[]> {
  const { connection, namespace, identity, hostId, host } = parts;
  const throttle = config.worker.heartbeatThrottleMs;
  const shared: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace,
    identity,
    dataConverter: createDataConverter(),
    maxHeartbeatThrottleInterval: throttle,
    defaultHeartbeatThrottleInterval: throttle,
    shutdownGraceTime: config.worker.shutdownGraceMs,
  };
  const workflows = {
    workflowBundle: { codePath: path.join(__dirname, 'workflow-bundle.js') },
    maxCachedWorkflows: config.worker.maxCachedWorkflows,
    stickyQueueScheduleToStartTimeout: '1s',
    maxEagerActivityReservationsPerWorkflowTask: 10,
  } as const;
  const activities = createActivities(host);
  const queue = hostQueue(config.queuePrefix, hostId);
  if (config.embeddedWorker) return [await Worker.create({ ...shared, ...workflows, activities, taskQueue: queue })];
  return Promise.all([
    Worker.create({ ...shared, ...workflows, taskQueue: workflowQueue(config.queuePrefix) }),
    Worker.create({ ...shared, activities, taskQueue: queue }),
  ]);
}

if (require.main === module) {
  main().catch((error: unknown) => {
    const usage = error instanceof ConfigError || (error instanceof ServerError && error.kind === 'usage');
    process.stderr.write(
      `${usage ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(usage ? EXIT_USAGE : 1);
  });
}
