import { createHash } from 'node:crypto';
import { digestText } from '../permissions/digest-text';
import { verdict } from '../permissions/verdict';
import type { CallPlan } from '../contract/activity';
import { createExecutor, type Executor, type ToolLogEntry } from '../tools/executor';
import { createToolRegistry, type ToolRegistry } from '../tools/registry';
import { submitResultTool } from '../tools/submit-result';
import type { RunContext, RunRef } from '../transcript/window-cache';
import { createCallJournal, type CallIntent, type CallJournal } from '../workspace/call-journal';
import { protectionOf } from '../workspace/protected-path';
import { createSeenFiles } from '../workspace/seen-files';
import { createCallOwners, type CallOwners } from './call-owners';
import { awaitOwned } from './delivery';
import type { Executed, ExecuteOptions, ToolCall, Toolbox } from './host';
import { runJournaled } from './journaled-call';
import type { RunWorld } from './run-world';

export interface ToolboxOptions {
  readonly registry: ToolRegistry;
  readonly worldOf: (directory: string) => RunWorld;
  readonly stateDirectory: string;
  readonly isRunClosed: (workflowId: string) => Promise<boolean>;
  /** Whether the state directory is still the one that this worker began with: only then a missing entry proves anything. */
  readonly isJournalOurs: () => boolean;
  /** Takes the lease for the run, if it does not have it. @returns why not. */
  readonly takeWorkspace: (workspace: string, run: RunRef) => Promise<string | undefined>;
  /** The Temporal server of this worker, as its entries name it. */
  readonly server: string;
  readonly log: (entry: ToolLogEntry & RunRef) => void;
}

const JOURNAL_GONE: Executed = {
  status: 'failed',
  message: [
    "The worker's state directory was removed or replaced while it ran, so it cannot be told whether this call has begun.",
    'It was not started now. A person has to start the worker again; look before you repeat the call.',
  ].join(' '),
  durationMs: 0,
};

/** Key of a call in journal and command files. Not the run id: a reset or a next run of the chain must meet the same entry. */
export function callKey(workflowId: string, callId: string): string {
  return `${workflowId}\n${callId}`;
}

/** The tools of one run: bound to its workspace, its permission mode and this host's sandbox. */
export function createToolboxes(options: ToolboxOptions): (run: RunContext & RunRef) => Toolbox {
  const owners = createCallOwners<Executed>();
  return (run) => {
    const world = options.worldOf(run.input.workspace);
    const registry = registryOf(options.registry, run);
    const executor = createRunExecutor({ ...options, registry }, world, run);
    const { stateDirectory, server } = options;
    const { files, commands: runner } = world;
    const journal = createCallJournal<Executed>({ stateDirectory, server, files, runner });
    const refusal = async (): Promise<string | undefined> => {
      const busy = await options.takeWorkspace(run.input.workspace, run);
      return busy === undefined
        ? undefined
        : `Not started: ${busy}. Nothing of this call happened; it can be repeated then.`;
    };
    return {
      definitions: () => executor.definitions(),
      plan: (call) => executor.plan(call),
      execute: (call, execution) => {
        const plan = executor.plan(call);
        const waitsForPerson = plan.verdict === 'ask' && call.grant !== plan.digest;
        const runsCommands = registry.get(plan.name)?.runsCommands === true;
        if (!plan.known || waitsForPerson || (plan.effect === 'read' && !runsCommands)) {
          return executor.execute(call, execution);
        }
        if (!options.isJournalOurs()) return Promise.resolve(JOURNAL_GONE);
        const intent: CallIntent = { tool: plan.name, kind: kindOf(registry, plan), digest: plan.digest };
        const isRunClosed = (): Promise<boolean> => options.isRunClosed(run.workflowId);
        const parts = {
          owners,
          journal,
          executor,
          isRunClosed,
          refusal: plan.effect === 'read' ? () => Promise.resolve(undefined) : refusal,
        };
        return executeOnce(parts, callKey(run.workflowId, call.callId), { call, intent, execution });
      },
    };
  };
}

/** A run with an output schema has one tool more: the one that takes its answer. */
function registryOf(registry: ToolRegistry, { input }: RunContext): ToolRegistry {
  if (input.outputSchema === undefined) return registry;
  const tools = registry.names().flatMap((name) => registry.get(name) ?? []);
  return createToolRegistry([...tools, submitResultTool(input.outputSchema)]);
}

interface OnceParts {
  readonly owners: CallOwners<Executed>;
  readonly journal: CallJournal<Executed>;
  readonly executor: Executor;
  readonly isRunClosed: () => Promise<boolean>;
  readonly refusal: () => Promise<string | undefined>;
}

interface OnceCall {
  readonly call: ToolCall;
  readonly intent: CallIntent;
  readonly execution: ExecuteOptions;
}

function executeOnce(parts: OnceParts, key: string, { call, intent, execution }: OnceCall): Promise<Executed> {
  const { owners, journal, executor, isRunClosed, refusal } = parts;
  const { maxBytes } = execution;
  const owned = owners.join(key, execution.onProgress, (hooks) =>
    runJournaled(journal, key, intent, {
      refusal,
      start: (files) => executor.execute(call, { ...hooks, maxBytes, files }),
      resume: (command) => executor.resume(call, command, { ...hooks, maxBytes }),
    }),
  );
  return awaitOwned(owned, { signal: execution.signal, meaning: execution.meaning, isRunClosed });
}

function createRunExecutor(options: ToolboxOptions, world: RunWorld, run: RunContext & RunRef): Executor {
  const { workflowId, runId, input } = run;
  const { directory } = world.files;
  return createExecutor({
    registry: options.registry,
    world: { ...world, seen: createSeenFiles({ stateDirectory: options.stateDirectory, workflowId, runId }) },
    permit: ({ tool, effect, runsCommands, asksInAuto, writes }) =>
      verdict({
        permission: input.permission,
        sandbox: world.sandbox,
        tool,
        effect,
        runsCommands,
        asksInAuto,
        protectedWrite: strictestProtection(writes),
      }),
    digest: (tool, final) =>
      `v1:${createHash('sha256')
        .update(digestText({ tool, input: final, directory }))
        .digest('hex')}`,
    callKey: (callId) => callKey(workflowId, callId),
    log: (entry) => {
      options.log({ ...entry, workflowId, runId });
    },
  });
}

function kindOf(registry: ToolRegistry, plan: CallPlan): CallIntent['kind'] {
  const tool = registry.get(plan.name);
  if (tool?.runsCommands === true) return 'command';
  return tool?.writes === undefined ? 'other' : 'file';
}

function strictestProtection(paths: readonly string[]): 'none' | 'refused' | 'asks' {
  const all = paths.map((path) => protectionOf(path));
  if (all.includes('refused')) return 'refused';
  return all.includes('asks') ? 'asks' : 'none';
}
