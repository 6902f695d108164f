import { randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readJsonFile } from './atomic-file';
import { errorCode } from './server-error';

/** How much of a state directory one kind of data takes. */
export interface PartUsage {
  readonly part: 'history' | 'calls' | 'logs' | 'other';
  readonly bytes: number;
  readonly files: number;
}

/** A call's journal entry with its output, as far as can be said without opening a workspace. */
export interface StoredCall {
  /** Whether there is an entry, or only what a crash before it left. */
  readonly hasEntry: boolean;
  /** Undefined for an entry that does not say whose it is. */
  readonly workflowId: string | undefined;
  /** Which Temporal server the worker worked for, as the worker names it. */
  readonly server: string | undefined;
  /** Milliseconds since the epoch: the newest change of any of its files. */
  readonly lastChangedMs: number;
  readonly bytes: number;
}

/** Sizes of what lies in a state directory, largest first; empty when there is none. */
export async function stateUsage(home: string): Promise<PartUsage[]> {
  const usage = new Map<PartUsage['part'], { bytes: number; files: number }>();
  for (const name of await namesIn(home)) {
    const { bytes, files } = await measure(path.join(home, name));
    const part = partOf(name);
    const before = usage.get(part) ?? { bytes: 0, files: 0 };
    usage.set(part, { bytes: before.bytes + bytes, files: before.files + files });
  }
  return [...usage].map(([part, sizes]) => ({ part, ...sizes })).sort((a, b) => b.bytes - a.bytes);
}

/**
 * Removes the directories of calls that are expired: journal entry and output. Without its entry nothing tells that a
 * call was begun, so `isExpired` must answer true only for calls that no run can ask for any more.
 */
export async function removeCalls(
  home: string,
  isExpired: (call: StoredCall) => boolean | Promise<boolean>,
): Promise<{ readonly calls: number; readonly bytes: number }> {
  const directory = path.join(home, 'calls');
  const removed = { calls: 0, bytes: 0 };
  for (const name of await namesIn(directory)) {
    const entry = path.join(directory, name);
    if (name.startsWith(REMOVING)) {
      // A removal before this one was interrupted.
      await rm(entry, { recursive: true, force: true });
      continue;
    }
    // A plain file beside the entries says whose journal it is.
    if (!(await isDirectory(entry))) continue;
    const { bytes, lastChangedMs } = await measure(entry);
    if (!(await isExpired({ ...(await ownerOf(entry)), lastChangedMs, bytes }))) continue;
    // In one step: half an entry would say something else than the whole.
    const doomed = path.join(directory, `${REMOVING}${randomUUID()}`);
    if (!(await ifThere(rename(entry, doomed).then(() => true)))) continue;
    await rm(doomed, { recursive: true, force: true });
    removed.calls += 1;
    removed.bytes += bytes;
  }
  return removed;
}

const REMOVING = 'removing-';

/** The key that the journal and the command's start note hold: workflow id, line feed, call id. */
const intentSchema = z.object({ callKey: z.string(), server: z.string() });
const startSchema = z.object({ callId: z.string() });

async function ownerOf(entry: string): Promise<Pick<StoredCall, 'hasEntry' | 'workflowId' | 'server'>> {
  const names = await namesIn(entry);
  const intent = readJsonFile(path.join(entry, 'intent.json'), intentSchema);
  const key = intent?.callKey ?? readJsonFile(path.join(entry, 'start.json'), startSchema)?.callId;
  return {
    hasEntry: names.includes('intent.json') || names.includes('start.json'),
    workflowId: key?.split('\n')[0],
    server: intent?.server,
  };
}

async function isDirectory(target: string): Promise<boolean> {
  return (await ifThere(lstat(target)))?.isDirectory() === true;
}

function partOf(name: string): PartUsage['part'] {
  if (name.startsWith('temporal.db')) return 'history';
  return name === 'calls' || name === 'logs' ? name : 'other';
}

interface Measured {
  readonly bytes: number;
  readonly files: number;
  readonly lastChangedMs: number;
}

/** Of everything below; links are not followed. What goes away meanwhile counts as nothing. */
export async function measure(target: string): Promise<Measured> {
  const stats = await ifThere(lstat(target));
  if (stats === undefined) return { bytes: 0, files: 0, lastChangedMs: 0 };
  if (!stats.isDirectory()) return { bytes: stats.size, files: 1, lastChangedMs: stats.mtimeMs };
  const below: Measured[] = [];
  for (const name of await namesIn(target)) below.push(await measure(path.join(target, name)));
  return {
    bytes: below.reduce((sum, { bytes }) => sum + bytes, 0),
    files: below.reduce((sum, { files }) => sum + files, 0),
    lastChangedMs: Math.max(stats.mtimeMs, ...below.map(({ lastChangedMs }) => lastChangedMs)),
  };
}

async function namesIn(directory: string): Promise<string[]> {
  return (await ifThere(readdir(directory))) ?? [];
}

async function ifThere<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
