import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { FinishResult, WorkspaceFacts } from '../contract/activity';
import type { FailureClass } from '../contract/failure';
import type { RunInput } from '../contract/run-input';
import { PortError } from '../contract/port-error';
import { endBackground, hasBackground } from '../workspace/background-commands';
import { gitFacts } from '../workspace/git';
import { readInstructions } from '../workspace/instructions';
import type { ChangedFiles } from '../workspace/run-changes';
import type { LeaseHolder, Workspaces } from './host';
import type { LeaseKeeper } from './lease-keeper';
import type { RunWorld } from './run-world';

export interface WorkspacesOptions {
  readonly keeper: LeaseKeeper;
  readonly worldOf: (directory: string) => RunWorld;
  readonly stateDirectory: string;
}

/** Local directories as workspaces: one run at a time changes each. */
export function createWorkspaces({ keeper, worldOf, stateDirectory }: WorkspacesOptions): Workspaces {
  return {
    prepare: async (input, holder) => {
      await checkDirectory(input.workspace);
      const busy = await keeper.take(input.workspace, holder);
      if (busy !== undefined) throw failure('workspace_busy', busy);
      return collectFacts(worldOf(input.workspace));
    },
    finish: async (input, holder, { pause }) => {
      if (pause && (await hasBackground(stateDirectory, holder.workflowId))) return {};
      if (!pause) await endBackground(stateDirectory, holder.workflowId);
      const changed = await tellChanges(worldOf, { input, holder, pause });
      await keeper.giveBack(input.workspace, holder);
      return changed === undefined ? {} : toResult(changed);
    },
  };
}

/** Undefined when it is not known, for example because the workspace is gone. */
async function tellChanges(
  worldOf: WorkspacesOptions['worldOf'],
  run: { readonly input: RunInput; readonly holder: LeaseHolder; readonly pause: boolean },
): Promise<ChangedFiles | undefined> {
  try {
    const { changes } = worldOf(run.input.workspace);
    if (!run.pause) return await changes.changed(run.holder);
    await changes.pause(run.holder);
  } catch {
    // The lease must be given back all the same.
  }
  return undefined;
}

function toResult({ paths, omitted }: ChangedFiles): FinishResult {
  return { filesChanged: paths, ...(omitted === 0 ? {} : { filesOmitted: omitted }) };
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
    sandbox: {
      mode: sandbox.mode,
      detail: sandbox.detail,
      ...(sandbox.network === undefined ? {} : { network: sandbox.network }),
    },
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
