import type { Config } from '../../config';
import type { DaemonRecord } from '../../server/daemon-record';
import { readLiveDaemon } from '../../server/daemon-record';
import { readHost } from '../../server/host';
import { stateFiles } from '../../server/state-directory';
import type { TemporalTarget } from '../../temporal/connection';
import { openConnection } from '../../temporal/open-connection';
import type { OpenedConnection } from '../../temporal/open-connection';
import { hostQueue, workflowQueue } from '../../temporal/queues';
import type { Check } from './check';
import { checkModel } from './model-check';
import { checkDaemon, checkNode, checkTemporalBinary } from './program-checks';
import { checkQueue } from './queue-checks';
import { checkRuns } from './run-checks';
import { checkSandbox } from './sandbox-checks';
import { checkNamespace, checkSearchAttributes, checkServer, noServer } from './server-checks';
import { checkSpace, checkStateDirectory, checkUsage } from './state-checks';

export interface ExamineOptions {
  /** How the person calls the program. */
  readonly command: string;
  /** Id of this program's build. */
  readonly build: string;
  /** Of Node. */
  readonly nodeVersion: string;
  /** Mend what can be mended without asking: register search attributes. */
  readonly fix: boolean;
  /** Make one small call of the model. */
  readonly model: boolean;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** Connecting, finding out why it failed, and one call. */
const SERVER_TIMEOUT_MS = 10_000;

/** Makes all checks, in the order in which people read them. Starts no daemon and creates no directory. Never throws. */
export async function examine(config: Config, options: ExamineOptions): Promise<Check[]> {
  const embedded = config.temporal.mode === 'embedded';
  const daemon = embedded ? readLiveDaemon(stateFiles(config.home)) : undefined;
  const checks = await Promise.all([
    checkNode(options.nodeVersion),
    checkTemporalBinary(config),
    embedded ? checkDaemon(daemon, options) : [],
    checkTemporal(config, daemon, options),
    checkSandbox(config),
    checkModel(config, { call: options.model }),
    checkStateDirectory(config.home),
    checkSpace(config.home),
    checkUsage(config.home),
  ]);
  return checks.flat();
}

async function checkTemporal(
  config: Config,
  daemon: DaemonRecord | undefined,
  options: ExamineOptions,
): Promise<Check[]> {
  const target = targetOf(config, daemon);
  if (target === undefined) return [await noServer(options.command)];
  const opening = openConnection(target, CONNECT_TIMEOUT_MS);
  const server = await checkServer(target.address, opening, { timeoutMs: SERVER_TIMEOUT_MS });
  if (server.state === 'fail') return [server];
  const opened = await opening;
  const [namespace, attributes, queues, runs] = await Promise.all([
    checkNamespace(opened.description, target.namespace),
    checkSearchAttributes(opened, options),
    checkOwnQueues(config, opened, options),
    checkRuns(opened.client, options),
  ]);
  const others = await checkOtherHosts(config, opened, { ...options, hosts: runs.hosts });
  // Not closed: the process ends soon, and closing under a call that waits would throw from a timer.
  return [server, namespace, attributes, ...queues, ...others, ...runs.checks];
}

function targetOf({ temporal }: Config, daemon: DaemonRecord | undefined): TemporalTarget | undefined {
  if (temporal.mode === 'server') return temporal.target;
  return daemon?.address === undefined ? undefined : { address: daemon.address, namespace: daemon.namespace };
}

/** Embedded, one queue has both kinds of work; on a cluster workflows have a queue that all workers share. */
function checkOwnQueues(config: Config, { client }: OpenedConnection, options: ExamineOptions): Promise<Check[]> {
  const { build, command } = options;
  const embedded = config.temporal.mode === 'embedded';
  const hostId = readHost(config.home)?.hostId;
  const own = hostId === undefined ? undefined : hostQueue(config.queuePrefix, hostId);
  const shared = embedded ? own : workflowQueue(config.queuePrefix);
  const mend = embedded
    ? `The daemon should bring the worker back; if not: ${command} down, then the command again.`
    : `Start one: ${command} worker`;
  const common = { build, mend, unpolled: 'fail' } as const;
  const why = {
    workflow: 'Without a worker there no conversation takes a step.',
    activity: 'Model calls and tools of runs that were started on this host are done there.',
  };
  return Promise.all([
    ...(shared === undefined
      ? []
      : [checkQueue(client, { ...common, queue: shared, kind: 'workflow', why: why.workflow })]),
    ...(own === undefined ? [] : [checkQueue(client, { ...common, queue: own, kind: 'activity', why: why.activity })]),
  ]);
}

/** Hosts that open runs need, besides this one. */
async function checkOtherHosts(
  config: Config,
  { client }: OpenedConnection,
  options: ExamineOptions & { readonly hosts: ReadonlyMap<string, number> },
): Promise<Check[]> {
  const own = readHost(config.home)?.hostId;
  const others = [...options.hosts].filter(([hostId]) => hostId !== own);
  return Promise.all(
    others.map(([hostId, runs]) =>
      checkQueue(client, {
        queue: hostQueue(config.queuePrefix, hostId),
        kind: 'activity',
        why: `${String(runs)} open ${runs === 1 ? 'run has its' : 'runs have their'} workspace on the host ${hostId}.`,
        mend: `Start ${options.command} worker there, or end what waits for it: ${options.command} list --open`,
        unpolled: 'warn',
        build: options.build,
      }),
    ),
  );
}
