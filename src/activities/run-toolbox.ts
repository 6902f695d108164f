import { createHash } from 'node:crypto';
import { digestText } from '../permissions/digest-text';
import { verdict } from '../permissions/verdict';
import { createExecutor, type ToolLogEntry } from '../tools/executor';
import type { ToolRegistry } from '../tools/registry';
import { protectionOf } from '../workspace/protected-path';
import type { RunContext, RunRef } from '../transcript/window-cache';
import type { Toolbox } from './host';
import type { RunWorld } from './run-world';

export interface ToolboxOptions {
  readonly registry: ToolRegistry;
  readonly worldOf: (directory: string) => RunWorld;
  readonly log: (entry: ToolLogEntry & RunRef) => void;
}

/** The tools of one run: bound to its workspace, its permission mode and this host's sandbox. */
export function createToolboxes({ registry, worldOf, log }: ToolboxOptions): (run: RunContext & RunRef) => Toolbox {
  return ({ input, workflowId, runId }) => {
    const world = worldOf(input.workspace);
    const { directory } = world.files;
    return createExecutor({
      registry,
      world,
      permit: ({ tool, effect, runsCommands, writes }) =>
        verdict({
          permission: input.permission,
          sandbox: world.sandbox,
          tool,
          effect,
          runsCommands,
          protectedWrite: strictestProtection(writes),
        }),
      digest: (tool, final) =>
        `v1:${createHash('sha256')
          .update(digestText({ tool, input: final, directory }))
          .digest('hex')}`,
      callKey: (callId) => `${workflowId}\n${callId}`,
      log: (entry) => {
        log({ ...entry, workflowId, runId });
      },
    });
  };
}

function strictestProtection(paths: readonly string[]): 'none' | 'refused' | 'asks' {
  const all = paths.map((path) => protectionOf(path));
  if (all.includes('refused')) return 'refused';
  return all.includes('asks') ? 'asks' : 'none';
}
