import { randomUUID } from 'node:crypto';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createActivities } from '../../src/activities/activities';
import type { Host, Toolbox } from '../../src/activities/host';
import { readRun } from '../../src/activities/read-run';
import type { Conversation } from '../../src/conversation/conversation';
import type { ResultDocument } from '../../src/contract/result-document';
import type { RunInput } from '../../src/contract/run-input';
import { createScriptedModel } from '../../src/model/scripted/scripted-model';
import { connectClient, type TemporalClient } from '../../src/temporal/connection';
import { createCodecs } from '../../src/temporal/data-converter';
import { eventBytes, historyPages } from '../../src/temporal/history';
import { createRunViewer } from '../../src/transcript/run-view';
import type { RunView } from '../../src/transcript/view';
import { createWindows, type Windows } from '../../src/transcript/window-cache';
import { testToolbox } from './test-toolbox';

export type AgentWorkflow = (input: RunInput, carried?: Conversation) => Promise<ResultDocument>;

let runtimeInstalled = false;

/** A worker inside the test process, on a queue of its own, with fakes at the host port only. */
export interface TestWorker {
  readonly temporal: TemporalClient;
  readonly queue: string;
  readonly windows: Windows;
  start(input: RunInput, workflowId?: string): Promise<WorkflowHandleWithFirstExecutionRunId<AgentWorkflow>>;
  /** The whole run as readers see it. */
  view(workflowId: string): Promise<RunView>;
  stop(): Promise<void>;
}

export interface TestWorkerOptions {
  readonly toolbox?: Toolbox;
  readonly host?: Partial<Host>;
  readonly cacheBytes?: number;
  readonly queue?: string;
}

export function suiteAddress(): string {
  const address = process.env['SUREHAND_TEST_TEMPORAL'];
  if (address === undefined) throw new Error('the suite has no Temporal server: is globalSetup configured?');
  return address;
}

export async function startTestWorker(options: TestWorkerOptions = {}): Promise<TestWorker> {
  if (!runtimeInstalled) Runtime.install({ logger: new DefaultLogger('ERROR') });
  runtimeInstalled = true;
  const address = suiteAddress();
  const temporal = await connectClient({ address, namespace: 'default' });
  const connection = await NativeConnection.connect({ address });
  const queue = options.queue ?? `test-${randomUUID()}`;
  const windows = createWindows({
    readRun: (run, mode) => readRun(temporal.client, run, mode),
    maxBytes: options.cacheBytes ?? 64 * 1024 * 1024,
  });
  const worker = await Worker.create({
    connection,
    taskQueue: queue,
    workflowBundle: { codePath: process.env['SUREHAND_TEST_BUNDLE'] ?? '' },
    activities: createActivities({ ...testHost(windows, options.toolbox ?? testToolbox()), ...options.host }),
    maxCachedWorkflows: 50,
    maxHeartbeatThrottleInterval: '200ms',
    defaultHeartbeatThrottleInterval: '200ms',
    stickyQueueScheduleToStartTimeout: '1s',
  });
  const running = worker.run();

  return {
    temporal,
    queue,
    windows,
    start: (input, workflowId = `test-${randomUUID()}`) =>
      temporal.client.workflow.start<AgentWorkflow>('agentWorkflow', {
        workflowId,
        taskQueue: queue,
        args: [{ ...input, hostQueue: queue }],
      }),
    view: (workflowId) => viewOf(temporal, workflowId),
    stop: async () => {
      worker.shutdown();
      await running;
      await connection.close();
      await temporal.close();
    },
  };
}

export async function viewOf(temporal: TemporalClient, workflowId: string): Promise<RunView> {
  const viewer = createRunViewer(workflowId, { codecs: createCodecs(), sizeOf: eventBytes });
  for await (const page of historyPages(temporal.client, { workflowId })) await viewer.push(page);
  const view = viewer.view();
  if (view === undefined) throw new Error(`no history of ${workflowId}`);
  return view;
}

function testHost(windows: Windows, toolbox: Toolbox): Host {
  const sandbox = { mode: 'off', detail: 'test' } as const;
  return {
    windows,
    models: () => createScriptedModel({ onWarning: () => undefined }),
    toolbox: () => toolbox,
    workspaces: {
      prepare: (input) =>
        Promise.resolve({
          directory: input.workspace,
          platform: 'linux',
          date: '2026-01-01',
          git: null,
          instructions: [],
          sandbox,
        }),
      finish: () => Promise.resolve({}),
    },
    systemPrompt: () => 'You are a test.',
    costUsd: () => null,
    redact: (text) => text,
  };
}
