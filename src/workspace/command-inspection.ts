import { setTimeout as sleep } from 'node:timers/promises';
import { CALL_MARKER } from './command-environment';
import {
  claimReason,
  currentBootId,
  giveUpStart,
  outputSize,
  readChild,
  readEnd,
  readReason,
  readStartNote,
  readStatus,
  readSupervisor,
} from './command-files';
import type { CallFiles, StartNote } from './command-files';
import type { CommandEnd, CommandState, StopReason } from './ports';
import { findMarked, findWithArguments, isAlive, killExactly, readProcess, signal } from './process-table';
import type { ProcessMark } from './process-table';
import { SUPERVISOR_NAME } from './supervisor-script';

/** How long a supervisor that was just started may take to write its mark. */
const START_GRACE_MS = 5_000;
/** How long a supervisor may take to see that its command is dead; it may be stopped itself. */
const SUPERVISOR_GRACE_MS = 2_000;
/** How long `off` mode's processes may take to end by themselves. */
const TERM_GRACE_MS = 1_000;

/** What became of a command, from its files and the process table alone. Only living processes are waited for. */
export async function inspectCommand(files: CallFiles, maxOutputBytes: number): Promise<CommandState> {
  const note = readStartNote(files);
  if (note === undefined) return stateWithoutFiles(files);
  const ended = await finishedState(files, note, maxOutputBytes);
  if (ended !== undefined) {
    // Without a namespace, what detached itself from the process group outlives the command.
    if (note.mode === 'off') await killLeftovers(note);
    return ended;
  }
  if (await supervisorLives(files, note)) {
    return {
      running: true,
      durationMs: Math.max(0, Date.now() - note.startedAtMs),
      outputBytes: await outputSize(files),
    };
  }
  // It may have ended between the two looks.
  return (await finishedState(files, note, maxOutputBytes)) ?? (await recoveredState(files, note));
}

/** Who asks has started it or seen its note: the files were removed under it. */
function stateWithoutFiles(files: CallFiles): CommandState {
  const base = { durationMs: 0, outputBytes: 0 };
  return supervisorsOf(files).length > 0 ? { ...base, running: true } : { ...base, running: false, end: 'unknown' };
}

function supervisorsOf({ directory }: CallFiles): readonly ProcessMark[] {
  return findWithArguments(SUPERVISOR_NAME, `${directory}\0`);
}

/** Ends the command and resolves when none of its processes lives. A command that has ended is left as it is. */
export async function stopCommand(files: CallFiles, reason: StopReason): Promise<void> {
  const note = readStartNote(files);
  if (note === undefined) {
    supervisorsOf(files).forEach(killExactly);
    return;
  }
  if (readEnd(files) !== undefined) return;
  await claimReason(files, reason);
  await giveUpStart(files);
  const since = Date.now();
  while (readEnd(files) === undefined && (await supervisorLives(files, note))) {
    const waitedMs = Date.now() - since;
    killTree(files, note, waitedMs > TERM_GRACE_MS);
    if (waitedMs > SUPERVISOR_GRACE_MS) endSupervisor(files);
    await sleep(5);
  }
  await killLeftovers(note);
}

/** Kills what carries the call's mark, and waits until it is gone. */
async function killLeftovers(note: StartNote): Promise<void> {
  for (;;) {
    const left = findMarked(CALL_MARKER, note.marker);
    if (left.length === 0) return;
    left.forEach(killExactly);
    await sleep(5);
  }
}

function endSupervisor(files: CallFiles): void {
  const supervisor = readSupervisor(files);
  if (typeof supervisor !== 'string') killExactly(supervisor);
}

async function finishedState(
  files: CallFiles,
  note: StartNote,
  maxOutputBytes: number,
): Promise<CommandState | undefined> {
  const ended = readEnd(files);
  if (ended === undefined) return undefined;
  const outputBytes = await outputSize(files);
  const durationMs = Math.max(0, Math.round(ended.atMs - note.startedAtMs));
  const reason = readReason(files);
  if (reason === 'timeout' || reason === 'cancelled') return { running: false, end: reason, durationMs, outputBytes };
  if (reason === 'output_limit' || outputBytes > maxOutputBytes) {
    return { running: false, end: 'output_limit', durationMs, outputBytes };
  }
  const end = note.mode === 'off' ? exited(ended.code) : sandboxEnd(readStatus(files), ended.code);
  return { running: false, ...end, durationMs, outputBytes };
}

function exited(exitCode: number): { readonly end: CommandEnd; readonly exitCode?: number } {
  return Number.isInteger(exitCode) ? { end: 'exited', exitCode } : { end: 'not_started' };
}

/** Set-up failure exits 1 like a command that exits 1: only bwrap's own line proves that the command ran to its end. */
function sandboxEnd(
  status: { readonly init?: number; readonly exitCode?: number },
  code: number,
): { readonly end: CommandEnd; readonly exitCode?: number } {
  if (status.exitCode !== undefined) return exited(status.exitCode);
  // A set-up that failed never ends so; its line was lost (no space, a damaged file).
  if (code === 0) return exited(code);
  const killedFromOutside = code > 128;
  return { end: killedFromOutside && status.init !== undefined ? 'unknown' : 'sandbox_failed' };
}

/** The supervisor is dead and left no end: what its files still prove. */
async function recoveredState(files: CallFiles, note: StartNote): Promise<CommandState> {
  await killLeftovers(note);
  const outputBytes = await outputSize(files);
  const base = { running: false, durationMs: 0, outputBytes } as const;
  const supervisor = readSupervisor(files);
  if (supervisor === 'given-up' || supervisor === 'none') return { ...base, end: 'not_started' };
  const status = note.mode === 'off' ? {} : readStatus(files);
  if (status.exitCode !== undefined) return { ...base, ...exited(status.exitCode) };
  const reason = readReason(files);
  if (reason === 'timeout' || reason === 'cancelled' || reason === 'output_limit') return { ...base, end: reason };
  if (note.mode === 'off') return { ...base, end: 'unknown' };
  const sameBoot = note.bootId === currentBootId();
  return { ...base, end: status.init === undefined && sameBoot ? 'not_started' : 'unknown' };
}

/** Also true for the moment in which a supervisor was spawned and has not written its mark. */
async function supervisorLives(files: CallFiles, note: StartNote): Promise<boolean> {
  const supervisor = readSupervisor(files);
  if (supervisor === 'given-up') return false;
  if (supervisor === 'starting') return Date.now() - note.startedAtMs < START_GRACE_MS;
  if (supervisor !== 'none') return isAlive(supervisor);
  if (note.bootId === currentBootId() && Date.now() - note.startedAtMs < START_GRACE_MS) return true;
  return !(await giveUpStart(files));
}

/**
 * The namespace's init first: killing the outer process while it still sets up would orphan the sandbox. Both pids are
 * checked against the process table, because a number may have gone to somebody else.
 */
function killTree(files: CallFiles, note: StartNote, force: boolean): void {
  const supervisor = readSupervisor(files);
  const child = readChild(files);
  if (typeof supervisor === 'string' || child === undefined) return;
  const outer = readProcess(child);
  if (outer === undefined || outer.zombie || outer.parent !== supervisor.pid) return;
  if (note.mode === 'off') {
    signal(-child, force ? 'SIGKILL' : 'SIGTERM');
    signal(-child, 'SIGCONT');
    return;
  }
  const { init } = readStatus(files);
  const entry = init === undefined ? undefined : readProcess(init);
  if (entry !== undefined && entry.parent === child) signal(entry.pid, 'SIGKILL');
  if (entry !== undefined || force) killExactly(outer);
}
