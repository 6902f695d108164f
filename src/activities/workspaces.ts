import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import type { WorkspaceFacts } from '../contract/activity';
import type { FailureClass } from '../contract/failure';
import { PortError } from '../contract/port-error';
import { isRunClosed } from '../temporal/run-state';
import { gitFacts } from '../workspace/git';
import { readInstructions } from '../workspace/instructions';
import type { WorkspaceLeases } from '../workspace/lease';
import type { Workspaces } from './host';
import type { RunWorld } from './run-world';

export interface WorkspacesOptions {
  readonly client: Client;
  readonly leases: WorkspaceLeases;
  readonly worldOf: (directory: string) => RunWorld;
}

/** Local directories as workspaces: one run at a time changes each. */
export function createWorkspaces({ client, leases, worldOf }: WorkspacesOptions): Workspaces {
  return {
    prepare: async (input, holder) => {
      await checkDirectory(input.workspace);
      const lease = await leases.acquire(input.workspace, holder, ({ workflowId, firstRunId }) =>
        isRunClosed(client, workflowId, firstRunId),
      );
      if (!lease.ok) {
        const { workflowId } = lease.holder;
        throw failure(
          'workspace_busy',
          `${input.workspace} is being changed by the run ${workflowId}; wait for it, or end it with \`surehand cancel ${workflowId}\``,
        );
      }
      return collectFacts(worldOf(input.workspace));
    },
    finish: async (input, holder) => {
      await leases.release(input.workspace, holder);
    },
  };
}

async function collectFacts({ files, commands, sandbox }: RunWorld): Promise<WorkspaceFacts> {
  const [git, instructions] = await Promise.all([
    gitFacts({ files, runner: commands, sandbox }),
    readInstructions(files),
  ]);
  return {
    directory: files.directory,
    platform: `${process.platform} ${process.arch}`,
    date: new Date().toISOString().slice(0, 10),
    git,
    instructions,
    sandbox: { mode: sandbox.mode, detail: sandbox.detail },
  };
}

async function checkDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw failure('workspace_missing', `there is no directory ${directory} on this host`);
  await access(directory, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
    throw failure('workspace_unwritable', `the worker may not write to ${directory}`, cause);
  });
}

function failure(kind: FailureClass, detail: string, cause?: unknown): PortError {
  return new PortError({ class: kind, retryable: false, detail }, { cause });
}
