import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNodeError } from './node-error';
import { runDirectory, shortDigest } from './run-directory';
import { changedByCalls, digestOf } from './seen-files';
import { changesSince, takeSnapshot } from './workspace-snapshot';
import type { SnapshotDeps, WorkspaceSnapshot } from './workspace-snapshot';

/** A run of a workflow over all its parts: the id of the first one tells it from another run of the same workflow id. */
export interface RunKey {
  readonly workflowId: string;
  readonly firstRunId: string;
}

export interface ChangedFiles {
  /** Relative to the workspace, sorted. */
  readonly paths: readonly string[];
  /** How many more there are. */
  readonly omitted: number;
}

const MAX_PATHS = 500;
const MAX_BYTES = 16 * 1024;
const MAX_COMPARED_BYTES = 20 * 1024 ** 2;

/**
 * Which files a run changed, whatever changed them: told from what the workspace was like when the run took it. While a
 * run does not hold the workspace, others may change it, so each time it takes it counts for itself.
 */
export interface RunChanges {
  /** The run has the workspace. Nothing happens if that is known. */
  begin(run: RunKey): Promise<void>;
  /** The run gives the workspace back for now: remembers what changed up to here. */
  pause(run: RunKey): Promise<void>;
  /** All that changed; `undefined` if nothing was noted at the run's begin. May be asked again. */
  changed(run: RunKey): Promise<ChangedFiles | undefined>;
}

/** Kept in the state directory, so that it survives a worker. */
export function createRunChanges(deps: SnapshotDeps & { readonly stateDirectory: string }): RunChanges {
  const fileOf = (run: RunKey, name: string): string =>
    join(runDirectory(deps.stateDirectory, run.workflowId), `${name}-${shortDigest(run.firstRunId)}.json`);
  const collect = async (run: RunKey): Promise<Set<string> | undefined> => {
    const earlier = await readJson<readonly string[]>(fileOf(run, 'changed'));
    const snapshot = await readJson<WorkspaceSnapshot>(fileOf(run, 'before'));
    if (earlier === undefined && snapshot === undefined) return undefined;
    const now = snapshot === undefined ? [] : await changesSince(snapshot, deps);
    return new Set([...(earlier ?? []), ...now]);
  };
  return {
    begin: async (run) => {
      const directory = runDirectory(deps.stateDirectory, run.workflowId);
      if (await isThere(fileOf(run, 'before'))) return;
      const isFirst = !(await isThere(fileOf(run, 'changed')));
      // Left by an earlier run under the same workflow id.
      if (isFirst) await rm(join(directory, 'seen'), { recursive: true, force: true });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await replaceJson(fileOf(run, 'before'), await takeSnapshot(deps));
    },
    pause: async (run) => {
      const paths = await collect(run);
      if (paths === undefined) return;
      await replaceJson(fileOf(run, 'changed'), [...paths]);
      await rm(fileOf(run, 'before'), { force: true });
    },
    changed: async (run) => {
      const paths = await collect(run);
      if (paths === undefined) return undefined;
      for (const { path, before } of await changedByCalls(deps.stateDirectory, run.workflowId)) {
        // Its tools may also change what git ignores.
        if (!paths.has(path) && (await digestNow(deps, path)) !== before) paths.add(path);
      }
      return bounded([...paths].sort());
    },
  };
}

async function digestNow({ files }: SnapshotDeps, path: string): Promise<string | null> {
  const found = await files.read(path, { maxBytes: MAX_COMPARED_BYTES }).catch(() => undefined);
  return digestOf(found?.bytes ?? null);
}

function bounded(paths: readonly string[]): ChangedFiles {
  let used = 2;
  const fitting: string[] = [];
  for (const path of paths.slice(0, MAX_PATHS)) {
    used += Buffer.byteLength(JSON.stringify(path)) + 1;
    if (used > MAX_BYTES) break;
    fitting.push(path);
  }
  return { paths: fitting, omitted: paths.length - fitting.length };
}

async function replaceJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

async function readJson<Value>(path: string): Promise<Value | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Value;
  } catch (error) {
    if (isNodeError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
