import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GitFacts, SandboxState } from '../contract/activity';
import type { InspectableRunner } from './command-runner';
import { WorkspaceError } from './ports';
import type { WorkspaceFiles } from './ports';

const TIMEOUT_MS = 10_000;
const MAX_STATUS_BYTES = 4 * 1024 ** 2;

/**
 * A repository's configuration may name programs that git runs. No set of options switches them all off, so git runs in
 * the sandbox, on a read-only workspace; the options keep it quiet and quick.
 */
const STATUS_COMMAND = [
  'GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_NOSYSTEM=1 exec git',
  "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.untrackedCache=false -c safe.directory='*'",
  'status --porcelain=v2 --branch --untracked-files=normal --ignore-submodules=all -z',
].join(' ');

/** Branch, commit and number of changed files; `null` when there is no repository or git must not be run here. */
export async function gitFacts(deps: {
  readonly files: WorkspaceFiles;
  readonly runner: InspectableRunner;
  readonly sandbox: SandboxState;
}): Promise<GitFacts | null> {
  if (!(await deps.files.exists('.git'))) return null;
  if (deps.sandbox.mode !== 'strict') return await headOnly(deps.files);
  const command = await deps.runner.start({
    callId: `git-status-${randomUUID()}`,
    command: STATUS_COMMAND,
    timeoutMs: TIMEOUT_MS,
    readOnly: true,
  });
  let state = await deps.runner.poll(command);
  for (let waitMs = 2; state.running; waitMs = Math.min(50, waitMs * 2)) {
    await sleep(waitMs);
    state = await deps.runner.poll(command);
  }
  const { head } = await deps.runner.output(command, { headBytes: MAX_STATUS_BYTES, tailBytes: 0 });
  await deps.runner.discard(command);
  return state.end === 'exited' && state.exitCode === 0 ? parseStatus(head) : await headOnly(deps.files);
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
