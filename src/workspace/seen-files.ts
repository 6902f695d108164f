import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory, writeDurably } from './durable-file';
import { isNodeError } from './node-error';
import { WorkspaceError } from './ports';
import type { SeenFiles } from './ports';
import { runDirectory, shortDigest } from './run-directory';

/** sha256, or `null` if there was no file. */
type Digest = string | null;

interface Sight {
  readonly last: Digest;
  /** The run has seen the file with other contents before. */
  readonly several: boolean;
}

interface FileNote {
  readonly path: string;
  /** Before the first change by a call; absent as long as there was none. */
  readonly before?: { readonly digest: Digest };
  /** By run id. */
  readonly sights: Readonly<Record<string, Sight>>;
}

/**
 * Notes in the state directory, one file per path, so a new worker knows what the one before had shown.
 *
 * A reset workflow has another run id and may have forgotten what was seen: what other runs of the workflow saw counts
 * only if it was one content all the time. When in doubt, a change is refused, and reading the file again helps.
 */
export function createSeenFiles(options: {
  readonly stateDirectory: string;
  readonly workflowId: string;
  readonly runId: string;
}): SeenFiles {
  const { runId } = options;
  const directory = join(runDirectory(options.stateDirectory, options.workflowId), 'seen');
  const fileOf = (path: string): string => join(directory, `${shortDigest(path)}.json`);
  const noteOf = async (path: string): Promise<FileNote> => (await readNote(fileOf(path))) ?? { path, sights: {} };
  const save = async (note: FileNote): Promise<void> => {
    const made = await makeDirectory(directory);
    await writeDurably(fileOf(note.path), JSON.stringify(note), made);
  };
  const sight = async (path: string, digest: Digest): Promise<void> => {
    const note = await noteOf(path);
    const known = note.sights[runId];
    if (known?.last === digest) return;
    const several = known !== undefined;
    await save({ ...note, sights: { ...note.sights, [runId]: { last: digest, several } } });
  };
  return {
    saw: async (path, content) => {
      await inWords(() => sight(path, digestOf(content)));
    },
    beforeWrite: async (path, content) => {
      await inWords(async () => {
        const note = await noteOf(path);
        const digest = digestOf(content);
        const problem = staleness(note, runId, digest);
        if (problem !== undefined) {
          const advice = 'Read it again, then decide what to write.';
          throw new WorkspaceError(`"${path}" ${problem}; nothing was changed. ${advice}`);
        }
        if (note.before === undefined) await save({ ...note, before: { digest } });
      });
    },
    wrote: async (path, content) => {
      await inWords(() => sight(path, digestOf(content)));
    },
  };
}

/** Files that calls of a run changed, with their digest before the first change. */
export async function changedByCalls(
  stateDirectory: string,
  workflowId: string,
): Promise<readonly { readonly path: string; readonly before: Digest }[]> {
  const directory = join(runDirectory(stateDirectory, workflowId), 'seen');
  const names = await readdir(directory).catch(() => []);
  const notes = await Promise.all(names.map(async (name) => await readNote(join(directory, name))));
  return notes.flatMap((note) => (note?.before === undefined ? [] : [{ path: note.path, before: note.before.digest }]));
}

/** Digest of a file's content as the notes hold it. */
export function digestOf(content: Uint8Array | null): Digest {
  return content === null ? null : createHash('sha256').update(content).digest('hex');
}

function staleness(note: FileNote, runId: string, now: Digest): string | undefined {
  const own = note.sights[runId];
  const others = Object.values(note.sights);
  if (own === undefined ? others.every(({ last, several }) => last === now && !several) : own.last === now) {
    return undefined;
  }
  if (own === undefined) return 'was last read in an earlier part of this run';
  if (now === null) return 'was deleted since it was read';
  return own.last === null ? 'did not exist when it was looked at and was created since' : 'changed since it was read';
}

async function readNote(path: string): Promise<FileNote | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as FileNote;
  } catch (error) {
    if (isNodeError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function inWords(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isNodeError(error)) throw error;
    throw new WorkspaceError(
      `The worker cannot note which files were read (${error.code ?? ''}), so the call was not done. A person must make its state directory writable again (space, permissions).`,
      { cause: error },
    );
  }
}
