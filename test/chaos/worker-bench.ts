import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { Message } from '../../src/contract/message';
import type { ResultDocument } from '../../src/contract/result-document';
import { connectClient, type TemporalClient } from '../../src/temporal/connection';
import { hostQueue, workflowQueue } from '../../src/temporal/queues';
import { searchAttributePairs } from '../../src/temporal/search-attributes';
import { buildPackage } from '../cli/support/build-package';
import { runInput } from '../support/run-input';
import { scripted, type ScriptTurn } from '../support/scripts';
import { tempDirectory } from '../support/temp-directory';
import { suiteAddress, viewOf, type AgentWorkflow } from '../support/test-worker';
import { waitFor } from '../support/wait-for';

/** A real worker process with the state directory it was given. */
export interface HostProcess {
  readonly hostId: string;
  /** What it has told on stderr. */
  said(): string;
  kill(): Promise<void>;
}

export interface StartedRun {
  readonly handle: WorkflowHandle<AgentWorkflow>;
  readonly workspace: string;
  /** Lines that the commands have left in the workspace's ledger. */
  ledger(): string[];
  /** Texts of all tool results, in order, once the run has ended. */
  results(): Promise<string[]>;
}

/** The product's worker against the suite's server, with queues of its own; runs are started without the command line. */
export interface WorkerBench {
  readonly temporal: TemporalClient;
  startHost(home: string): Promise<HostProcess>;
  startRun(hostId: string, turns: readonly ScriptTurn[]): Promise<StartedRun>;
  tearDown(): Promise<void>;
}

export async function createWorkerBench(): Promise<WorkerBench> {
  const root = await tempDirectory('worker-bench');
  const entry = path.join(path.dirname(buildPackage(path.join(root, 'package'))), 'worker.js');
  const temporal = await connectClient({ address: suiteAddress(), namespace: 'default' });
  const prefix = `bench-${randomUUID().slice(0, 8)}`;
  const children: ChildProcess[] = [];
  return {
    temporal,
    startHost: async (home) => {
      const env = {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'],
        TEMPORAL_ADDRESS: suiteAddress(),
        SUREHAND_HOME: home,
        SUREHAND_QUEUE_PREFIX: prefix,
        SUREHAND_HEALTH_PORT: '0',
      };
      const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
      children.push(child);
      return followHost(child);
    },
    startRun: async (hostId, turns) => {
      const workspace = await tempDirectory('workspace');
      const queue = hostQueue(prefix, hostId);
      const handle = await temporal.client.workflow.start<AgentWorkflow>('agentWorkflow', {
        workflowId: `bench-${randomUUID()}`,
        taskQueue: workflowQueue(prefix),
        typedSearchAttributes: searchAttributePairs({ SurehandHost: hostId }, ['SurehandHost']),
        args: [runInput({ workspace, hostId, hostQueue: queue, model: scripted(turns) })],
      });
      return {
        handle,
        workspace,
        ledger: () => linesOf(path.join(workspace, 'ledger')),
        results: () => resultsOf(temporal, handle),
      };
    },
    tearDown: async () => {
      await Promise.all(children.map(end));
      await temporal.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function followHost(child: ChildProcess): Promise<HostProcess> {
  let stderr = '';
  let hostId: string | undefined;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.on('message', (message: { readonly hostId?: string }) => (hostId = message.hostId));
  const ready = await waitFor(
    'the worker to be ready',
    () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${String(child.exitCode)}: ${stderr}`);
      return hostId;
    },
    { timeoutMs: 40_000 },
  );
  return { hostId: ready, said: () => stderr, kill: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

async function resultsOf(temporal: TemporalClient, handle: WorkflowHandle<AgentWorkflow>): Promise<string[]> {
  const document: ResultDocument = await handle.result();
  expect(document.outcome).toBe('done');
  const { messages } = await viewOf(temporal, handle.workflowId);
  return messages.flatMap(({ content }: Message) =>
    content.flatMap((block) => (block.type === 'tool_result' ? [block.content] : [])),
  );
}
