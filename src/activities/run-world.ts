import { LRUCache } from 'lru-cache';
import type { SandboxState } from '../contract/activity';
import { createCommandRunner, type InspectableRunner } from '../workspace/command-runner';
import { createWorkspaceFiles } from '../workspace/files';
import type { TextSearch, WorkspaceFiles } from '../workspace/ports';
import { createRunChanges } from '../workspace/run-changes';
import type { RunChanges } from '../workspace/run-changes';
import { findRipgrep } from '../workspace/ripgrep';
import { createTextSearch } from '../workspace/text-search';
import type { Toolchain } from '../workspace/toolchain';

/** The workspace of a run as its tools use it. */
export interface RunWorld {
  readonly files: WorkspaceFiles;
  readonly commands: InspectableRunner;
  readonly search: TextSearch;
  readonly sandbox: SandboxState;
  /** Which files runs have changed in it. */
  readonly changes: RunChanges;
}

export interface WorldOptions {
  readonly stateDirectory: string;
  readonly sandbox: SandboxState;
  readonly bwrapPath?: string;
  readonly nodePath: string;
  readonly toolchains?: readonly Toolchain[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly networkDirectory?: string;
  /** Workspaces below it may run commands unsandboxed where the sandbox does not hold: the demo's own scratch. */
  readonly demoRoot: string;
}

/** Opens workspaces, and keeps the last ones open. @throws when the directory does not exist. */
export function createWorlds(options: WorldOptions): (directory: string) => RunWorld {
  const worlds = new LRUCache<string, RunWorld>({ max: 200 });
  return (directory) => {
    const known = worlds.get(directory);
    if (known !== undefined) return known;
    const world = openWorld(options, directory);
    worlds.set(directory, world);
    return world;
  };
}

function openWorld(options: WorldOptions, directory: string): RunWorld {
  const files = createWorkspaceFiles(directory);
  const sandbox = sandboxFor(options, files.directory);
  const { stateDirectory, bwrapPath } = options;
  const mode =
    sandbox.mode === 'strict' && bwrapPath !== undefined
      ? ({ mode: 'strict', bwrapPath } as const)
      : sandbox.mode === 'off'
        ? ({ mode: 'off' } as const)
        : ({ mode: 'broken', detail: sandbox.detail } as const);
  const runner = createCommandRunner({ ...options, workspace: files.directory, sandbox: mode });
  return {
    files,
    sandbox,
    commands: runner,
    changes: createRunChanges({ stateDirectory, files, runner, isSandboxed: mode.mode === 'strict' }),
    search: createTextSearch({
      files,
      ripgrepPath: findRipgrep(),
      ...(mode.mode === 'strict' ? { bwrapPath: mode.bwrapPath } : {}),
    }),
  };
}

function sandboxFor({ sandbox, demoRoot }: WorldOptions, directory: string): SandboxState {
  const inDemo = directory.startsWith(`${demoRoot}/`);
  if (sandbox.mode !== 'broken' || !inDemo) return sandbox;
  const detail = `the sandbox does not hold here (${sandbox.detail}); the demo's own known commands run in its scratch directory without one`;
  return { mode: 'off', detail };
}
