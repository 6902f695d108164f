import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callFiles } from './command-files';
import { inspectCommand, stopCommand } from './command-inspection';
import { runDirectory, shortDigest } from './run-directory';
import type { GitMounts } from './sandbox-profile';

interface BackgroundNote {
  readonly callId: string;
  readonly notedAtMs: number;
  readonly git: GitMounts;
}

/** Noted before such a command starts, so that its run finds it at its end whatever happened in between. */
export async function noteBackground(stateDirectory: string, callId: string, git: GitMounts): Promise<void> {
  const directory = directoryOf(stateDirectory, workflowIdOf(callId));
  const note: BackgroundNote = { callId, notedAtMs: Date.now(), git };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, shortDigest(callId));
  await writeFile(`${path}${UNFINISHED}`, JSON.stringify(note), { mode: 0o600 });
  await rename(`${path}${UNFINISHED}`, path);
}

const UNFINISHED = '.new';

/**
 * What the background commands that run now, for the workflow of a call, see mounted. A command that starts beside them
 * must not mount anything else of the workspace: what they do not see as a mount they can replace with a link at any
 * moment, also between the look at it and the mount, and the mount would follow the link to anywhere.
 */
export async function mountsBesideBackground(stateDirectory: string, callId: string): Promise<GitMounts | undefined> {
  const live = await liveNotes(stateDirectory, workflowIdOf(callId));
  return live.sort((a, b) => a.notedAtMs - b.notedAtMs)[0]?.git;
}

/** Whether a background command of the workflow runs. */
export async function hasBackground(stateDirectory: string, workflowId: string): Promise<boolean> {
  return (await liveNotes(stateDirectory, workflowId)).length > 0;
}

/** Ends the background commands of a workflow; resolves when none of their processes lives. */
export async function endBackground(stateDirectory: string, workflowId: string): Promise<void> {
  const noted = await readNotes(stateDirectory, workflowId);
  await Promise.all(
    noted.map(async ({ callId }) => {
      await stopCommand(callFiles(stateDirectory, callId), 'cancelled');
      await rm(join(directoryOf(stateDirectory, workflowId), shortDigest(callId)), { force: true });
    }),
  );
}

async function liveNotes(stateDirectory: string, workflowId: string): Promise<BackgroundNote[]> {
  const noted = await readNotes(stateDirectory, workflowId);
  const states = await Promise.all(
    noted.map(({ callId }) => inspectCommand(callFiles(stateDirectory, callId), Number.MAX_SAFE_INTEGER)),
  );
  return noted.filter((_, index) => states[index]?.running === true);
}

async function readNotes(stateDirectory: string, workflowId: string): Promise<BackgroundNote[]> {
  const directory = directoryOf(stateDirectory, workflowId);
  const names = (await readdir(directory).catch(() => [])).filter((name) => !name.endsWith(UNFINISHED));
  return await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(directory, name), 'utf8')) as BackgroundNote),
  );
}

function directoryOf(stateDirectory: string, workflowId: string): string {
  return join(runDirectory(stateDirectory, workflowId), 'background');
}

/** Of a call's key: workflow id, line feed, call id. */
function workflowIdOf(callId: string): string {
  return callId.split('\n', 1)[0] ?? '';
}
