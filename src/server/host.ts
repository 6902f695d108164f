import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { createJsonFile, readJsonFile } from './atomic-file';
import { openStateDirectory, stateFiles } from './state-directory';

const hostSchema = z.object({
  hostId: z.string().regex(/^[a-z2-7]{12}$/),
  machineId: z.string().min(1),
  createdAt: z.string(),
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
 * there does not know what was started here, so it gets an id of its own.
 * @param machineId for tests; default: this machine's.
 * @throws ServerError (`usage`) when the directory cannot be used.
 */
export function openHost(home: string, machineId: string = readMachineId()): Host {
  const { host: file } = openStateDirectory(home);
  const existing = readHost(home);
  if (existing?.machineId === machineId) return { hostId: existing.hostId };
  const warning = existing === undefined ? makeAnew(home, machineId) : setCopyAside(home, existing);
  createRecord(file, machineId);
  const record = readHost(home);
  if (record === undefined) throw new Error(`${file} cannot be read back`);
  return warning === undefined ? { hostId: record.hostId } : { hostId: record.hostId, warning };
}

export function readHost(home: string): HostRecord | undefined {
  return readJsonFile(stateFiles(home).host, hostSchema);
}

/** 12 random base32 characters (60 bits). */
function newHostId(): string {
  return Array.from(randomBytes(12), (byte) => BASE32.charAt(byte % BASE32.length)).join('');
}

function createRecord(file: string, machineId: string): boolean {
  return createJsonFile(file, { hostId: newHostId(), machineId, createdAt: new Date().toISOString() });
}

/** Answers a warning when there was a record that nobody can read. */
function makeAnew(home: string, machineId: string): string | undefined {
  const { host: file } = stateFiles(home);
  // Not created and readable now: another process was faster.
  if (createRecord(file, machineId) || readHost(home) !== undefined) return undefined;
  renameSync(file, `${file}.damaged`);
  return `${file} is damaged, so the state directory is a new host now (its old runs wait for the old one).`;
}

function setCopyAside(home: string, old: HostRecord): string {
  const { host: file } = stateFiles(home);
  renameSync(file, `${file}.${old.hostId}`);
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
