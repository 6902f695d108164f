import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { callFiles, currentBootId, readStartNote } from './command-files';
import type { CallFiles } from './command-files';
import type { InspectableRunner } from './command-runner';
import { createDurably, makeDirectory, writeDurably } from './durable-file';
import { isNodeError } from './node-error';
import { WorkspaceError } from './ports';
import type { CommandState, StartedCommand, WorkspaceFiles } from './ports';
import { isAlive, ownMark } from './process-table';
import type { ProcessMark } from './process-table';

/** What a call is about to do. `command`: it runs one under a supervisor; `file`: it writes one file; `other`: anything. */
export interface CallIntent {
  readonly tool: string;
  readonly kind: 'command' | 'file' | 'other';
  /** Of the plan: tool, final input, directory. */
  readonly digest: string;
}

/** What the journal knows about a call whose delivery came again. */
export type JournalEntry<Result> =
  /** Nothing: this journal never saw it begin. */
  | { readonly state: 'none' }
  | { readonly state: 'recorded'; readonly intent: CallIntent; readonly result: Result }
  /** The process that began it lives and has not handed it to a supervisor; it alone may finish it. */
  | { readonly state: 'owned'; readonly intent: CallIntent; readonly owner: ProcessMark }
  | { readonly state: 'running'; readonly intent: CallIntent; readonly command: StartedCommand }
  /** The command ended and its result was not written: what its files say. */
  | {
      readonly state: 'ended';
      readonly intent: CallIntent;
      readonly command: StartedCommand;
      readonly outcome: CommandState;
    }
  /** The file has the content that the call was to give it. */
  | { readonly state: 'applied'; readonly intent: CallIntent; readonly path: string }
  /** Provably nothing happened: safe to repeat, by a new call. */
  | { readonly state: 'not_started'; readonly intent: CallIntent }
  /** None, some or all of it happened. */
  | { readonly state: 'unknown'; readonly intent: CallIntent; readonly command?: StartedCommand };

export interface CallJournal<Result> {
  /**
   * Must resolve to true before the call does anything. False: the call began before, perhaps in another process; ask
   * `lookup`. @throws WorkspaceError when the entry cannot be made durable (no space); then nothing may start.
   */
  begin(callKey: string, intent: CallIntent): Promise<boolean>;
  /** The call's files: notes digests of before and after, durably, before each write. */
  filesOf(callKey: string): WorkspaceFiles;
  /** Must resolve before the result is reported. The first result stays. */
  record(callKey: string, result: Result): Promise<void>;
  lookup(callKey: string): Promise<JournalEntry<Result>>;
}

interface IntentRecord extends CallIntent {
  /** Workflow id and call id, for whoever removes entries that nobody can ask for any more. */
  readonly callKey: string;
  /** The Temporal server that the worker works for: the same workflow id on another one is another run. */
  readonly server: string;
  readonly owner: ProcessMark;
  readonly bootId: string;
}

interface WriteRecord {
  readonly path: string;
  /** sha256, or `null` if there was no file. */
  readonly before: string | null;
  readonly after: string;
}

/** Larger files are not compared; a call on one ends as `unknown`. */
const MAX_COMPARED_BYTES = 256 * 1024 ** 2;

/**
 * One directory per call, beside the files of its command. An entry never changes once made, so any process may read it
 * at any time.
 */
export function createCallJournal<Result>(options: {
  readonly stateDirectory: string;
  readonly server: string;
  readonly files: WorkspaceFiles;
  readonly runner: InspectableRunner;
}): CallJournal<Result> {
  const pathOf = (callKey: string, name: string): string =>
    join(callFiles(options.stateDirectory, callKey).directory, name);
  return {
    begin: async (callKey, intent) => {
      const { server } = options;
      const record: IntentRecord = { ...intent, callKey, server, owner: ownMark(), bootId: currentBootId() };
      return await durably('nothing was started', async () => {
        const madeIn = await makeDirectory(callFiles(options.stateDirectory, callKey).directory);
        return await createDurably(pathOf(callKey, 'intent.json'), JSON.stringify(record), madeIn);
      });
    },
    filesOf: (callKey) => ({
      ...options.files,
      write: async (path, bytes) => {
        const before = await digestOf(options.files, path);
        const note: WriteRecord = { path, before, after: sha256(bytes) };
        await durably('the file was not written', async () => {
          await writeDurably(pathOf(callKey, 'write.json'), JSON.stringify(note));
        });
        return await options.files.write(path, bytes);
      },
    }),
    record: async (callKey, result) => {
      await durably('the outcome is not recorded', async () => {
        return await createDurably(pathOf(callKey, 'result.json'), JSON.stringify({ result }));
      });
    },
    lookup: async (callKey) => {
      const read = await readJson<IntentRecord>(pathOf(callKey, 'intent.json'));
      if (read === undefined) return { state: 'none' };
      const intent = read === 'damaged' ? await guessIntent(callFiles(options.stateDirectory, callKey)) : read;
      // Before the looks at what it left: an owner that dies between them can leave nothing more.
      const ownerLives = intent.bootId === currentBootId() && isAlive(intent.owner);
      const recorded = await readJson<{ readonly result: Result }>(pathOf(callKey, 'result.json'));
      if (isWhole(recorded)) return { state: 'recorded', intent, result: recorded.result };
      if (intent.kind === 'command') return await lookAtCommand(options, callKey, { intent, ownerLives });
      if (ownerLives) return { state: 'owned', intent, owner: intent.owner };
      if (intent.kind === 'other') return { state: 'unknown', intent };
      return await lookAtFile(options.files, intent, await readJson<WriteRecord>(pathOf(callKey, 'write.json')));
    },
  };
}

async function lookAtCommand(
  options: { readonly stateDirectory: string; readonly runner: InspectableRunner },
  callKey: string,
  found: { readonly intent: IntentRecord; readonly ownerLives: boolean },
): Promise<Exclude<JournalEntry<never>, { readonly state: 'none' }>> {
  const { intent } = found;
  const note = readStartNote(callFiles(options.stateDirectory, callKey));
  if (note === undefined) {
    if (found.ownerLives) return { state: 'owned', intent, owner: intent.owner };
    // The note is not fsynced: after a power loss its absence proves nothing.
    return { state: intent.bootId === currentBootId() ? 'not_started' : 'unknown', intent };
  }
  const command = { callId: callKey, outputFile: callFiles(options.stateDirectory, callKey).output };
  const outcome = await options.runner.poll(command);
  if (outcome.running) return { state: 'running', intent, command };
  if (outcome.end === 'not_started') return { state: 'not_started', intent };
  if (outcome.end === 'unknown') return { state: 'unknown', intent, command };
  return { state: 'ended', intent, command, outcome };
}

/** An entry that does not read is still one; what lies beside it tells the kind. */
async function guessIntent({ directory }: CallFiles): Promise<IntentRecord> {
  const names = await readdir(directory);
  const kind = names.includes('start.json') ? 'command' : names.includes('write.json') ? 'file' : 'other';
  const lost = { tool: '', digest: '', callKey: '', server: '', bootId: '' };
  return { ...lost, kind, owner: { pid: 0, startTime: '' } };
}

/** The digests tell what happened: the write itself is one step. */
async function lookAtFile(
  files: WorkspaceFiles,
  intent: IntentRecord,
  note: WriteRecord | 'damaged' | undefined,
): Promise<Exclude<JournalEntry<never>, { readonly state: 'none' }>> {
  if (note === undefined) return { state: 'not_started', intent };
  if (note === 'damaged') return { state: 'unknown', intent };
  const now = await digestOf(files, note.path);
  if (now === note.after) return { state: 'applied', intent, path: note.path };
  return { state: now === note.before ? 'not_started' : 'unknown', intent };
}

async function digestOf(files: WorkspaceFiles, path: string): Promise<string | null> {
  try {
    return sha256((await files.read(path, { maxBytes: MAX_COMPARED_BYTES })).bytes);
  } catch (error) {
    if (error instanceof WorkspaceError && !(await files.exists(path))) return null;
    if (error instanceof WorkspaceError) return `unreadable: ${error.message}`;
    throw error;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function readJson<Value>(path: string): Promise<Value | 'damaged' | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Value;
  } catch (error) {
    if (isNodeError(error, 'ENOENT')) return undefined;
    if (error instanceof SyntaxError) return 'damaged';
    throw error;
  }
}

function isWhole<Value>(read: Value | 'damaged' | undefined): read is Value {
  return read !== undefined && read !== 'damaged';
}

async function durably<Value>(consequence: string, write: () => Promise<Value>): Promise<Value> {
  try {
    return await write();
  } catch (error) {
    if (!isNodeError(error)) throw error;
    throw new WorkspaceError(
      `The worker's journal cannot be written (${error.code ?? ''}): ${consequence}. A person must make its state directory writable again (space, permissions).`,
      { cause: error },
    );
  }
}
