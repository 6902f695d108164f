import { lstat, readFile, readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { GitMounts } from './sandbox-profile';

const NONE: GitMounts = { directories: [], pinned: [] };

/**
 * What to mount so that git works in the sandbox and what it would run stays as it is. A linked worktree's `.git` is a
 * file naming a directory outside. A command could forge such a file, so it is believed only if that directory names
 * this workspace in return, which no sandboxed command can write.
 */
export async function findGitMounts(workspace: string): Promise<GitMounts> {
  const dotGit = join(workspace, '.git');
  const found = await lstat(dotGit).catch(() => undefined);
  if (found === undefined || found.isSymbolicLink()) return NONE;
  if (found.isDirectory()) return { directories: [dotGit], pinned: await existing(dotGit) };
  if (!found.isFile()) return NONE;
  const common = await worktreeCommonDirectory(dotGit);
  if (common === undefined) return { directories: [], pinned: [dotGit] };
  return { directories: [common], pinned: [dotGit, ...(await existing(common))] };
}

/** Where repositories of submodules are looked for in a git directory: so deep, and in so many directories. */
const MAX_DEPTH = 4;
const MAX_DIRECTORIES = 500;

async function existing(gitDirectory: string): Promise<readonly string[]> {
  const modules = await moduleDirectories(join(gitDirectory, 'modules'), MAX_DEPTH, { left: MAX_DIRECTORIES });
  const pinned = await Promise.all([gitDirectory, ...modules].map(pinnedIn));
  return pinned.flat();
}

/** A repository of a submodule is named after its path, which may have several components. */
async function moduleDirectories(directory: string, depth: number, budget: { left: number }): Promise<string[]> {
  budget.left -= 1;
  if (depth < 0 || budget.left < 0) return [];
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  if (entries.some(({ name }) => name === 'HEAD')) {
    return [directory, ...(await moduleDirectories(join(directory, 'modules'), depth - 1, budget))];
  }
  const found: string[] = [];
  for (const entry of entries.filter((candidate) => candidate.isDirectory())) {
    found.push(...(await moduleDirectories(join(directory, entry.name), depth - 1, budget)));
  }
  return found;
}

async function pinnedIn(gitDirectory: string): Promise<readonly string[]> {
  const pinned: string[] = [];
  for (const name of ['config', 'config.worktree', 'hooks']) {
    const path = join(gitDirectory, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile() || found?.isDirectory()) pinned.push(path);
  }
  return pinned;
}

async function worktreeCommonDirectory(dotGit: string): Promise<string | undefined> {
  try {
    const pointer = /^gitdir: (.+)$/mu.exec(await readFile(dotGit, 'utf8'))?.[1];
    if (pointer === undefined) return undefined;
    const gitDirectory = await realpath(resolve(dirname(dotGit), pointer));
    const back = (await readFile(join(gitDirectory, 'gitdir'), 'utf8')).trim();
    if (back === '' || resolve(gitDirectory, back) !== dotGit) return undefined;
    const common = (await readFile(join(gitDirectory, 'commondir'), 'utf8')).trim();
    return await realpath(resolve(gitDirectory, common));
  } catch {
    return undefined;
  }
}
