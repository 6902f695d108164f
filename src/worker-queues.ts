import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from '@temporalio/worker';
import type { NativeConnection, State, WorkerInterceptors, WorkerOptions } from '@temporalio/worker';
import { createActivities } from './activities/activities';
import type { Host } from './activities/host';
import type { Config } from './config';
import type { HealthReport, QueueHealth } from './server/health-endpoint';
import { createDataConverter } from './temporal/data-converter';
import { hostQueue, workflowQueue } from './temporal/queues';

export interface WorkerParts {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly identity: string;
  readonly hostId: string;
  readonly host: Host;
  readonly interceptors: WorkerInterceptors;
}

/** Embedded there is one host, and one queue lets the server dispatch eagerly; on a cluster workflows stay on the shared queue. */
export async function createWorkers(config: Config, parts: WorkerParts): Promise<Worker[]> {
  const { connection, namespace, identity, hostId, host, interceptors } = parts;
  const { worker } = config;
  const shared: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace,
    identity,
    interceptors,
    dataConverter: createDataConverter(),
    maxHeartbeatThrottleInterval: worker.heartbeatThrottleMs,
    defaultHeartbeatThrottleInterval: worker.heartbeatThrottleMs,
    shutdownGraceTime: worker.shutdownGraceMs,
    // Only told to the server, so that `doctor` sees which build polls; tasks are routed as without it.
    workerDeploymentOptions: {
      version: { deploymentName: 'surehand', buildId: ownBuildId() },
      useWorkerVersioning: false,
    },
  };
  const workflows = {
    workflowBundle: { codePath: path.join(__dirname, 'workflow-bundle.js') },
    maxCachedWorkflows: worker.maxCachedWorkflows,
    stickyQueueScheduleToStartTimeout: '1s',
    maxEagerActivityReservationsPerWorkflowTask: 10,
    maxConcurrentWorkflowTaskExecutions: worker.workflowTaskSlots,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: worker.workflowTaskPollers },
  } as const;
  const steps = {
    activities: createActivities(host),
    maxConcurrentActivityTaskExecutions: worker.activitySlots,
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: worker.activityPollers },
  } as const;
  const queue = hostQueue(config.queuePrefix, hostId);
  if (config.embeddedWorker) return [await Worker.create({ ...shared, ...workflows, ...steps, taskQueue: queue })];
  return Promise.all([
    Worker.create({ ...shared, ...workflows, taskQueue: workflowQueue(config.queuePrefix) }),
    Worker.create({ ...shared, ...steps, taskQueue: queue }),
  ]);
}

/** What the health endpoint says of these workers; without any they are still to come. */
export function reportHealth(
  workers: readonly Worker[],
  ids: { readonly hostId: string; readonly identity: string },
): HealthReport {
  const queues = workers.map(queueHealth);
  return { status: statusOf(queues), build: ownBuildId(), ...ids, queues };
}

function queueHealth(worker: Worker): QueueHealth {
  const { numInFlightActivities, numInFlightWorkflowActivations } = worker.getStatus();
  return {
    queue: worker.options.taskQueue,
    state: worker.getState(),
    activities: numInFlightActivities,
    workflowTasks: numInFlightWorkflowActivations,
  };
}

function statusOf(queues: readonly QueueHealth[]): HealthReport['status'] {
  const isIn = (...states: readonly State[]) => queues.some(({ state }) => states.some((name) => name === state));
  if (isIn('FAILED')) return 'failed';
  if (isIn('STOPPING', 'DRAINING', 'DRAINED', 'STOPPED')) return 'stopping';
  return queues.length === 0 || isIn('INITIALIZED') ? 'starting' : 'ok';
}

/** Id of this build, which the build wrote beside this file. */
function ownBuildId(): string {
  try {
    return readFileSync(path.join(__dirname, 'build-id'), 'utf8').trim();
  } catch {
    return 'unbuilt';
  }
}
