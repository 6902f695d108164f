import { randomUUID } from 'node:crypto';
import { NativeConnection, type Worker } from '@temporalio/worker';
import type { Host } from './activities/host';
import { handBack } from './activities/hand-back';
import { createLeaseKeeper } from './activities/lease-keeper';
import { readRun } from './activities/read-run';
import { createToolboxes } from './activities/run-toolbox';
import { createWorlds } from './activities/run-world';
import { keepCallsTidy } from './activities/tidy-calls';
import { createWorkspaces } from './activities/workspaces';
import { ConfigError, loadConfig, type Config } from './config';
import { findModelInfo } from './config-models';
import { secrets, secretsInEnv } from './config-secrets';
import { EXIT_CODES, EXIT_USAGE } from './contract/outcome';
import { createModels } from './model/models';
import { createPricing } from './model/prices';
import { systemPrompt } from './prompts/system-prompt';
import { createRedactor } from './redactor';
import { findDaemon } from './server/daemon-client';
import { startHealthEndpoint, type HealthEndpoint, type HealthReport } from './server/health-endpoint';
import { openHost, ownsJournal, readHost } from './server/host';
import type { LogFields, Logger } from './server/logger';
import { tryLock } from './server/lock';
import { identify } from './server/process-identity';
import { ServerError } from './server/server-error';
import { stateFiles } from './server/state-directory';
import { removeCalls } from './server/state-usage';
import { serverName } from './temporal/call-expiry';
import { connectionOptions, type TemporalClient, type TemporalTarget } from './temporal/connection';
import { openConnection, TemporalConnectionError } from './temporal/open-connection';
import { isRunClosed } from './temporal/run-state';
import { BUILTIN_TOOLS } from './tools/builtin-tools';
import { createToolRegistry } from './tools/registry';
import type { Tool } from './tools/tool';
import { loadToolModules } from './tool-modules';
import { createWindows } from './transcript/window-cache';
import { createWorkspaceLeases, type LeasePlace } from './workspace/lease';
import { installRuntime, logActivities, openWorkerLog } from './worker-log';
import { createWorkers, reportHealth } from './worker-queues';
import { openSandbox, describeSandbox, type HostSandbox } from './worker-sandbox';

const WINDOW_CACHE_BYTES = 256 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_CONCURRENT_MODEL_CALLS = 20;
/** How much of a model call's time its answer may take to begin. */
const FIRST_BYTE_SHARE = 0.8;

/** The parts of a host, put together. The one place where ports meet their adapters. */
function composeHost({ config, temporal, sandbox, place, tools, logger }: HostParts): Host {
  const worldOf = createWorlds({
    ...sandbox,
    stateDirectory: config.home,
    sandbox: sandbox.state,
    nodePath: process.execPath,
    demoRoot: config.demoRoot,
  });
  const keeper = createLeaseKeeper({
    client: temporal.client,
    leases: createWorkspaceLeases(config.leaseDirectory),
    place,
    directories: { hostIdOf: (home) => readHost(home)?.hostId, daemonOf: findDaemon },
    onTaken: (workspace, holder) =>
      worldOf(workspace)
        .changes.begin(holder)
        .catch((error: unknown) => {
          // The run goes on; its result then names only what its file tools changed.
          logger.log('warn', `what ${workspace} is like was not noted: ${String(error)}`);
        }),
  });
  return {
    windows: createWindows({
      readRun: (run, mode) => readRun(temporal.client, run, mode),
      maxBytes: config.worker.windowCache ? WINDOW_CACHE_BYTES : 0,
    }),
    models: createModels({
      endpoints: config.endpoints,
      idleMs: config.worker.modelIdleMs,
      // Before the activity's own time is over, which would end it without a word about why.
      timeoutMs: Math.min(config.worker.modelIdleMs, config.timeouts.modelCallMs * FIRST_BYTE_SHARE),
      maxConcurrentPerEndpoint: MAX_CONCURRENT_MODEL_CALLS,
      onWarning: (text) => {
        logger.log('warn', text);
      },
    }),
    toolbox: createToolboxes({
      registry: createToolRegistry([...BUILTIN_TOOLS, ...tools]),
      worldOf,
      stateDirectory: config.home,
      isRunClosed: (workflowId) => isRunClosed(temporal.client, workflowId),
      isJournalOurs: () => ownsJournal(config.home, place.hostId),
      takeWorkspace: keeper.takeFor,
      server: serverName(place.server),
      log: ({ step, ...fields }) => {
        logger.log(step === 'bug' ? 'error' : 'info', `tool ${step}`, fields);
      },
    }),
    workspaces: createWorkspaces({ keeper, worldOf, stateDirectory: config.home }),
    systemPrompt,
    costUsd: createPricing((model) => findModelInfo(config.models, model)),
    redact: createRedactor(secrets(config)),
  };
}

interface HostParts {
  readonly config: Config;
  readonly temporal: TemporalClient;
  readonly sandbox: HostSandbox;
  readonly place: LeasePlace;
  /** Those of one's own. */
  readonly tools: readonly Tool[];
  readonly logger: Logger;
}

async function main(): Promise<void> {
  // The embedded worker belongs to its daemon and ends with it, also while it boots.
  process.once('disconnect', () => process.exit(0));
  const config = loadConfig(process.env);
  if (config.temporal.mode === 'embedded') {
    throw new ConfigError('No Temporal server is configured. Set TEMPORAL_ADDRESS to HOST:PORT.');
  }
  const tools = await loadToolModules(config.tools, BUILTIN_TOOLS);
  const { hostId, warning } = openHost(config.home);
  const lock = await lockHost(config);
  // From here on no other worker writes this log.
  const logger = openWorkerLog(config);
  installRuntime(logger);
  if (warning !== undefined) logger.log('warn', warning);
  const { target } = config.temporal;
  const workers: Worker[] = [];
  const identity = `surehand@${hostId}#${randomUUID().slice(0, 8)}`;
  const health = await openHealth(config, () => reportHealth(workers, { hostId, identity }));
  const [sandbox, { temporal, connection }] = await Promise.all([openSandbox(config), connect(target)]);
  const server = { embedded: config.embeddedWorker, address: target.address, namespace: target.namespace };
  const host = composeHost({ config, temporal, sandbox, place: { home: config.home, hostId, server }, tools, logger });
  const created = await createWorkers(config, {
    ...{ connection, namespace: target.namespace, identity, hostId, host },
    interceptors: { activity: [logActivities(logger)] },
  });
  workers.push(...created);
  const { client } = temporal;
  const log = (text: string, fields: LogFields): void => logger.log('info', text, fields);
  const warn = (text: string): void => logger.log('warn', text);
  await handBack({ client, hostId, identity, stateDirectory: config.home, log, warn });
  const running = Promise.all(workers.map((worker) => worker.run()));
  process.send?.({ type: 'ready', hostId, identity });
  log('worker ready', {
    ...{ hostId, identity, sandbox: sandbox.state.mode, detail: sandbox.state.detail },
    ...describeSandbox(sandbox),
    ...(tools.length === 0 ? {} : { tools: tools.map(({ name }) => name).join(' ') }),
    ...(health === undefined ? {} : { health: `http://127.0.0.1:${health.port}/healthz` }),
  });
  const tidying = keepCallsTidy({
    client,
    server: serverName(server),
    removeCalls: (isExpired) => removeCalls(config.home, isExpired),
    log,
    warn,
  });
  await running;
  await health?.close();
  await sandbox.close();
  await tidying.stop();
  await temporal.close();
  await connection.close();
  lock.release();
  // An open channel would keep this process alive.
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}

/** The embedded worker has none: its daemon watches it, and a fixed port would be in the way of another state directory. */
async function openHealth(config: Config, report: () => HealthReport): Promise<HealthEndpoint | undefined> {
  const { healthPort } = config.worker;
  return config.embeddedWorker || healthPort === 0 ? undefined : startHealthEndpoint(healthPort, report);
}

/** The client first: its errors tell people what is wrong, those of the native connection do not. */
async function connect(
  target: TemporalTarget,
): Promise<{ readonly temporal: TemporalClient; readonly connection: NativeConnection }> {
  const temporal = await openConnection(target, CONNECT_TIMEOUT_MS);
  return { temporal, connection: await NativeConnection.connect(connectionOptions(target)) };
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

/** What cannot get better by itself is 2; a supervisor may try the others again. */
function exitCodeOf(error: unknown): number {
  if (error instanceof TemporalConnectionError) {
    return {
      unauthenticated: EXIT_CODES.unauthenticated,
      unavailable: EXIT_CODES.unavailable,
      'no-namespace': EXIT_USAGE,
    }[error.problem];
  }
  const usage = error instanceof ConfigError || (error instanceof ServerError && error.kind === 'usage');
  return usage ? EXIT_USAGE : EXIT_CODES.failed;
}

if (require.main === module) {
  main().catch((error: unknown) => {
    const code = exitCodeOf(error);
    const isBug = code === EXIT_CODES.failed && error instanceof Error;
    const text = isBug ? (error.stack ?? error.message) : error instanceof Error ? error.message : String(error);
    const shown = createRedactor(secretsInEnv(process.env))(text);
    process.stderr.write(`${shown}\n`);
    const exit = (): never => process.exit(code);
    // Starting it again would not help, so the daemon is told.
    if (error instanceof ConfigError && process.send !== undefined)
      process.send({ type: 'refused', reason: shown }, exit);
    else exit();
  });
}
