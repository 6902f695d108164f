import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callFiles, readEnd, readStartNote } from './command-files';
import { inspectCommand, stopCommand } from './command-inspection';
import { isNodeError } from './node-error';
import { findWithArguments, isAlive, killExactly } from './process-table';
import { SUPERVISOR_NAME } from './supervisor-script';

/** A command that some process of this state directory started and that still runs. */
export interface LiveCommand {
  /** The key it was started with. */
  readonly callId: string;
  stop(): Promise<void>;
}

/** All commands of a state directory that run now, whoever started them. */
export async function liveCommands(stateDirectory: string): Promise<LiveCommand[]> {
  const live: LiveCommand[] = [];
  for (const name of await callDirectories(stateDirectory)) {
    const directory = join(stateDirectory, 'calls', name);
    const files = { directory, output: join(directory, 'output') };
    if (readEnd(files) !== undefined) continue;
    const note = readStartNote(files);
    if (note === undefined || callFiles(stateDirectory, note.callId).directory !== directory) continue;
    const { running } = await inspectCommand(files, Number.MAX_SAFE_INTEGER);
    if (running) live.push({ callId: note.callId, stop: () => stopCommand(files, 'cancelled') });
  }
  return live;
}

/**
 * The commands that may still change something for this workflow, by the files of its state directory, or, when they are
 * gone, every supervisor of that directory.
 */
export async function liveCommandsOf(stateDirectory: string, workflowId: string): Promise<LiveCommand[]> {
  const live = await liveCommands(stateDirectory);
  const ofWorkflow = live.filter(({ callId }) => callId.startsWith(`${workflowId}\n`));
  const filesAreGone = (await callDirectories(stateDirectory)).every((name) => name.startsWith('of-'));
  return filesAreGone ? orphansOf(stateDirectory) : ofWorkflow;
}

function orphansOf(stateDirectory: string): LiveCommand[] {
  return findWithArguments(SUPERVISOR_NAME, `${join(stateDirectory, 'calls')}/`).map((supervisor) => ({
    callId: '',
    stop: async () => {
      // What it runs in a sandbox ends with it.
      killExactly(supervisor);
      while (isAlive(supervisor)) await sleep(5);
    },
  }));
}

async function callDirectories(stateDirectory: string): Promise<string[]> {
  try {
    return await readdir(join(stateDirectory, 'calls'));
  } catch (error) {
    if (isNodeError(error, 'ENOENT')) return [];
    throw error;
  }
}
