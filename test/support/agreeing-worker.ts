import { randomUUID } from 'node:crypto';
import type { Host } from '../../src/activities/host';
import { compareAtEachCall, type Agreement } from './agreement';
import { startTestWorker, type TestWorker } from './test-worker';
import { testToolbox, type TestTool } from './test-toolbox';

/** A worker that, at each model call of one workflow, holds what history tells against what the workflow knows. */
export interface AgreeingWorker {
  readonly worker: TestWorker;
  readonly workflowId: string;
  readonly agreement: Agreement;
}

export interface AgreeingWorkers {
  /** @param cacheBytes of the window cache; 0 switches it off. */
  start(tools?: Readonly<Record<string, TestTool>>, cacheBytes?: number): Promise<AgreeingWorker>;
  /** Stops all that were started. */
  stop(): Promise<void>;
}

export function createAgreeingWorkers(prefix: string): AgreeingWorkers {
  const open: TestWorker[] = [];
  return {
    start: async (tools = {}, cacheBytes) => {
      const workflowId = `${prefix}-${randomUUID()}`;
      const agreement = compareAtEachCall(() => worker.temporal, workflowId);
      const worker: TestWorker = await startTestWorker({
        toolbox: testToolbox(tools),
        host: { models: agreement.models } satisfies Partial<Host>,
        ...(cacheBytes === undefined ? {} : { cacheBytes }),
      });
      open.push(worker);
      return { worker, workflowId, agreement };
    },
    stop: async () => {
      await Promise.all(open.splice(0).map((worker) => worker.stop()));
    },
  };
}
