import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { createJsonFile, readJsonFile } from './atomic-file';
import { ServerError, errorCode } from './server-error';
import { openStateDirectory, stateFiles } from './state-directory';

const hostSchema = z.object({
  hostId: z.string().regex(/^[a-z2-7]{12}$/),
  machineId: z.string().min(1),
  createdAt: z.string(),
  /** The journal of this host carries its mark. */
  journal: z.literal(true).optional(),
});

type HostRecord = z.infer<typeof hostSchema>;

export interface Host {
  readonly hostId: string;
  /** Set when the directory got a new id because it was made on another machine or its record is damaged. */
  readonly warning?: string;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The identity of a state directory, made at first use. A copy of it on another machine is another host: the journal
 * there does not know what was started here, so it gets an id of its own. So does a directory whose journal was removed.
 * @param machineId for tests; default: this machine's.
 * @throws ServerError (`usage`) when the directory cannot be used.
 */
export function openHost(home: string, machineId: string = readMachineId()): Host {
  const { host: file } = openStateDirectory(home);
  const existing = readHost(home);
  if (existing?.machineId === machineId && hasJournal(home, existing)) return { hostId: existing.hostId };
  const warning = existing === undefined ? makeAnew(home, machineId) : setAside(home, existing, machineId);
  createRecord(file, machineId);
  const record = readHost(home);
  if (record === undefined) throw new Error(`${file} cannot be read back`);
  return warning === undefined ? { hostId: record.hostId } : { hostId: record.hostId, warning };
}

export function readHost(home: string): HostRecord | undefined {
  return readJsonFile(stateFiles(home).host, hostSchema);
}

/** Whether the state directory is this host's and holds its journal: only then does a missing entry prove anything. */
export function ownsJournal(home: string, hostId: string): boolean {
  const record = readHost(home);
  return record?.hostId === hostId && hasJournal(home, record);
}

function hasJournal(home: string, { hostId, journal }: HostRecord): boolean {
  return journal !== true || existsSync(markOf(home, hostId));
}

/** Lies in the journal, so that it goes where the journal goes. */
function markOf(home: string, hostId: string): string {
  return path.join(home, 'calls', `of-${hostId}`);
}

/** 12 random base32 characters (60 bits). */
function newHostId(): string {
  return Array.from(randomBytes(12), (byte) => BASE32.charAt(byte % BASE32.length)).join('');
}

function createRecord(file: string, machineId: string): boolean {
  const home = path.dirname(file);
  const hostId = newHostId();
  const mark = markOf(home, hostId);
  // First: a record whose mark is missing is one whose journal was removed.
  writeMark(mark);
  const created = createJsonFile(file, { hostId, machineId, createdAt: new Date().toISOString(), journal: true });
  if (!created) rmSync(mark, { force: true });
  return created;
}

function writeMark(mark: string): void {
  const directory = path.dirname(mark);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(mark, '', { mode: 0o600 });
  } catch (error) {
    const detail = `the journal cannot be kept in ${directory} (${errorCode(error) ?? String(error)}).`;
    throw new ServerError('usage', `${detail} Make it a directory that this user may write to.`, { cause: error });
  }
}

/** Answers a warning when there was a record that nobody can read. */
function makeAnew(home: string, machineId: string): string | undefined {
  const { host: file } = stateFiles(home);
  // Not created and readable now: another process was faster.
  if (createRecord(file, machineId) || readHost(home) !== undefined) return undefined;
  renameSync(file, `${file}.damaged`);
  return `${file} is damaged, so the state directory is a new host now (its old runs wait for the old one).`;
}

function setAside(home: string, old: HostRecord, machineId: string): string {
  const { host: file } = stateFiles(home);
  renameSync(file, `${file}.${old.hostId}`);
  if (old.machineId === machineId) {
    return (
      `the journal in ${path.join(home, 'calls')} was removed, so the state directory is a new host now: what it had begun ` +
      `cannot be told any more (runs of host ${old.hostId} wait for it; end them, or put the directory back with its host.json).`
    );
  }
  return (
    `the state directory ${home} was made on another machine, so it is a new host here ` +
    `(runs of host ${old.hostId} wait for that machine).`
  );
}

/** Systems without a machine id (some containers) are told apart by their host name. */
function readMachineId(): string {
  try {
    const id = readFileSync('/etc/machine-id', 'utf8').trim();
    if (id !== '') return id;
  } catch {
    // Below.
  }
  return `name-${createHash('sha256').update(hostname()).digest('hex').slice(0, 32)}`;
}
