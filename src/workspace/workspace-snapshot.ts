import type { InspectableRunner } from './command-runner';
import { isChanged, signaturesOf } from './file-signature';
import type { FileSignature } from './file-signature';
import { runGit } from './git-command';
import { WorkspaceError } from './ports';
import type { WorkspaceFiles } from './ports';
import { findRipgrep, runRipgrep } from './ripgrep';

/** The workspace at one moment, as far as it takes to tell later what has changed. JSON. */
export interface WorkspaceSnapshot {
  readonly atMs: number;
  /** The commit (or empty tree) that git compares with; absent when git is not used here. */
  readonly base?: string;
  /** With git: the files that differed from `base` or were untracked. Without: all that are not ignored. */
  readonly files: readonly (readonly [path: string, signature: FileSignature | null])[];
}

export interface SnapshotDeps {
  readonly files: WorkspaceFiles;
  readonly runner: InspectableRunner;
  /** Whether git may be run: it must not without a sandbox that holds. */
  readonly isSandboxed: boolean;
}

const MAX_FILES = 50_000;
const DIGEST_BYTES = 64 * 1024 ** 2;
const LIST_TIMEOUT_MS = 10_000;
/** The clock of the file system lags behind by a tick. */
const CLOCK_SLACK_MS = 20;

export async function takeSnapshot(deps: SnapshotDeps): Promise<WorkspaceSnapshot> {
  const atMs = Date.now();
  const git = await askGit(deps, 'base=$(git rev-parse --verify -q HEAD || git hash-object -t tree /dev/null)');
  const paths = git === undefined ? await listFiles(deps) : [...git.differing, ...git.untracked];
  const found = await signaturesOf(deps.files.directory, paths, { budget: { bytes: DIGEST_BYTES } });
  return { atMs, ...(git === undefined ? {} : { base: git.base }), files: [...found] };
}

/**
 * Paths that show something else than at the snapshot: created, changed, deleted, both names of a renamed file. Files
 * that git ignores, or that an ignore file names, are not seen.
 */
export async function changesSince(snapshot: WorkspaceSnapshot, deps: SnapshotDeps): Promise<string[]> {
  const before = new Map(snapshot.files);
  const git = snapshot.base === undefined ? undefined : await askGit(deps, `base=${snapshot.base}`);
  const listed = git === undefined ? await listFiles(deps) : [...git.differing, ...git.untracked];
  const now = await signaturesOf(deps.files.directory, [...before.keys(), ...listed], {
    budget: { bytes: DIGEST_BYTES },
    known: before,
  });
  const differing = new Set(git?.differing);
  const isNew = (path: string, found: FileSignature | null): boolean =>
    // What git lists without its being new was ignored, or beyond the limit, before.
    differing.has(path) || (found !== null && found.changedAtMs >= snapshot.atMs - CLOCK_SLACK_MS);
  return [...now].flatMap(([path, found]) => {
    const known = before.get(path);
    return (known === undefined ? isNew(path, found) : isChanged(known, found)) ? [path] : [];
  });
}

interface GitAnswer {
  readonly base: string;
  readonly differing: readonly string[];
  readonly untracked: readonly string[];
}

/** Lists separated by an empty name; the last word proves that nothing is missing. */
const LISTS = `printf '%s\\0' "$base" &&
git diff --name-only -z --no-renames --no-ext-diff --no-textconv --ignore-submodules=all "$base" -- && printf '\\0' &&
git ls-files -z --others --exclude-standard && printf '\\0end'`;

async function askGit(deps: SnapshotDeps, base: string): Promise<GitAnswer | undefined> {
  if (!deps.isSandboxed || !(await deps.files.exists('.git'))) return undefined;
  const output = await runGit(deps.runner, `${base} &&\n${LISTS}`);
  const [id = '', ...words] = output?.split('\0') ?? [];
  if (!/^[0-9a-f]{40,64}$/u.test(id) || words.pop() !== 'end') return undefined;
  const border = words.indexOf('');
  const untracked = words.slice(border + 1).filter((path) => path !== '');
  return { base: id, differing: words.slice(0, border), untracked };
}

async function listFiles({ files }: SnapshotDeps): Promise<string[]> {
  const paths: string[] = [];
  const run = {
    binary: findRipgrep(),
    cwd: files.directory,
    options: ['--files', '--null'],
    path: '.',
    separator: 'nul',
    timeoutMs: LIST_TIMEOUT_MS,
  } as const;
  const take = (path: string): 'stop' | undefined => {
    paths.push(path.replace(/^\.\//u, ''));
    return paths.length >= MAX_FILES ? 'stop' : undefined;
  };
  await runRipgrep(run, take, new AbortController().signal).catch((error: unknown) => {
    // An empty workspace, or one that may not be read: there is nothing to compare.
    if (!(error instanceof WorkspaceError)) throw error;
  });
  return paths;
}
