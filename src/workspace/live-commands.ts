import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { callFiles, readEnd, readStartNote } from './command-files';
import { inspectCommand, stopCommand } from './command-inspection';
import { isNodeError } from './node-error';

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
    if ((await readEnd(files)) !== undefined) continue;
    const note = await readStartNote(files);
    if (note === undefined || callFiles(stateDirectory, note.callId).directory !== directory) continue;
    const { running } = await inspectCommand(files, Number.MAX_SAFE_INTEGER);
    if (running) live.push({ callId: note.callId, stop: () => stopCommand(files, 'cancelled') });
  }
  return live;
}

async function callDirectories(stateDirectory: string): Promise<string[]> {
  try {
    return await readdir(join(stateDirectory, 'calls'));
  } catch (error) {
    if (isNodeError(error, 'ENOENT')) return [];
    throw error;
  }
}
