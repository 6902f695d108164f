import type { GitFacts, SandboxState } from '../contract/activity';
import type { InspectableRunner } from './command-runner';
import { runGit } from './git-command';
import { WorkspaceError } from './ports';
import type { WorkspaceFiles } from './ports';

const STATUS = 'git status --porcelain=v2 --branch --untracked-files=normal --ignore-submodules=all -z';

/** Branch, commit and number of changed files; `null` when there is no repository or git must not be run here. */
export async function gitFacts(deps: {
  readonly files: WorkspaceFiles;
  readonly runner: InspectableRunner;
  readonly sandbox: SandboxState;
}): Promise<GitFacts | null> {
  if (!(await deps.files.exists('.git'))) return null;
  if (deps.sandbox.mode !== 'strict') return await headOnly(deps.files);
  const status = await runGit(deps.runner, STATUS);
  return status === undefined ? await headOnly(deps.files) : parseStatus(status);
}

/** Without a sandbox git is not run; HEAD is read as text, and changed files are not counted (-1). */
async function headOnly(files: WorkspaceFiles): Promise<GitFacts | null> {
  try {
    const head = await readText(files, '.git/HEAD');
    const branch = /^ref: refs\/heads\/(.+)$/u.exec(head)?.[1];
    if (branch === undefined) return { branch: '(detached)', head: head.slice(0, 40), changedFiles: -1 };
    const commit = await readText(files, `.git/refs/heads/${branch}`).catch(() => '');
    return { branch, head: commit, changedFiles: -1 };
  } catch (error) {
    if (error instanceof WorkspaceError) return null;
    throw error;
  }
}

async function readText(files: WorkspaceFiles, path: string): Promise<string> {
  const { bytes } = await files.read(path, { maxBytes: 4096 });
  return new TextDecoder().decode(bytes).trim();
}

function parseStatus(text: string): GitFacts {
  const records = text.split('\0');
  const header = (name: string): string =>
    records.find((record) => record.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length) ?? '';
  const changed = records.filter((record) => /^[12u?] /u.test(record)).length;
  const head = header('oid');
  return { branch: header('head'), head: head === '(initial)' ? '' : head, changedFiles: changed };
}
