import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isNodeError } from './node-error';

const leaseSchema = z.object({
  workflowId: z.string(),
  firstRunId: z.string(),
  /** Where the run is at home: what another worker of this machine needs to find out whether it is over. */
  place: z
    .object({
      /** The state directory of the host that works for the run, and its id when the lease was taken. */
      home: z.string(),
      hostId: z.string(),
      server: z.object({ embedded: z.boolean(), address: z.string(), namespace: z.string() }),
    })
    .optional(),
});

/** Who may change a workspace. */
export type Lease = Readonly<z.infer<typeof leaseSchema>>;

export type LeasePlace = NonNullable<Lease['place']>;

export type LeaseResult = { readonly ok: true } | { readonly ok: false; readonly holder: Lease };

export interface WorkspaceLeases {
  /**
   * Takes the workspace for a run, or finds that the run has it already. A holder is followed only if `isClosed` says
   * that its run is over (and, for the caller to judge, that none of its commands lives).
   */
  acquire(workspace: string, lease: Lease, isClosed: (holder: Lease) => Promise<boolean>): Promise<LeaseResult>;
  /** Gives the workspace back; nothing happens if this run does not hold it. */
  release(workspace: string, lease: Lease): Promise<void>;
  holder(workspace: string): Promise<Lease | undefined>;
}

/**
 * Leases as files of one directory, per workspace by device and inode, so that every name of a directory means the same
 * lease. The file with the highest generation tells the holder, or that there is none. A new generation is put in place
 * by `link`, which only one process can win; nothing is ever changed in place, so no crash leaves a lock behind.
 */
export function createWorkspaceLeases(directory: string): WorkspaceLeases {
  return {
    acquire: async (workspace, lease, isClosed) => {
      const key = await workspaceKey(workspace);
      for (;;) {
        const current = await newest(directory, key);
        if (current.holder !== undefined) {
          if (isSame(current.holder, lease)) return { ok: true };
          if (!(await isClosed(current.holder))) return { ok: false, holder: current.holder };
        }
        if (await advance(directory, { key, from: current.generation, holder: lease })) return { ok: true };
      }
    },
    release: async (workspace, lease) => {
      const key = await workspaceKey(workspace).catch(() => undefined);
      if (key === undefined) return;
      const current = await newest(directory, key);
      if (current.holder === undefined || !isSame(current.holder, lease)) return;
      await advance(directory, { key, from: current.generation, holder: undefined });
    },
    holder: async (workspace) => {
      return (await newest(directory, await workspaceKey(workspace))).holder;
    },
  };
}

interface Generation {
  readonly generation: number;
  readonly holder: Lease | undefined;
}

async function workspaceKey(workspace: string): Promise<string> {
  const { dev, ino } = await stat(workspace, { bigint: true });
  return `${dev}-${ino}`;
}

async function newest(directory: string, key: string): Promise<Generation> {
  for (;;) {
    const generation = Math.max(0, ...(await generationsOf(directory, key)));
    if (generation === 0) return { generation, holder: undefined };
    const text = await readFile(fileOf(directory, key, generation), 'utf8').catch((error: unknown) => {
      if (isNodeError(error, 'ENOENT')) return undefined;
      throw error;
    });
    // Gone: a newer one has replaced it meanwhile.
    if (text !== undefined) return { generation, holder: parseLease(text) };
  }
}

async function generationsOf(directory: string, key: string): Promise<readonly number[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (isNodeError(error, 'ENOENT')) return [];
    throw error;
  });
  return names.filter((name) => name.startsWith(`${key}.`)).map((name) => Number(name.slice(key.length + 1)));
}

/** Puts the next generation in place. False when somebody else did, or was further already. */
async function advance(
  directory: string,
  change: { readonly key: string; readonly from: number; readonly holder: Lease | undefined },
): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = join(directory, `new-${randomUUID()}`);
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(JSON.stringify(change.holder ?? null));
    await file.sync();
  } finally {
    await file.close();
  }
  const generation = change.from + 1;
  const mine = fileOf(directory, change.key, generation);
  try {
    await link(temporary, mine);
  } catch (error) {
    if (isNodeError(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
  const all = await generationsOf(directory, change.key);
  if (Math.max(...all) > generation) {
    // We looked long ago: this number had been used and cleared away before.
    await unlink(mine).catch(() => undefined);
    return false;
  }
  const older = all.filter((other) => other < generation);
  await Promise.all(
    older.map(async (other) => await unlink(fileOf(directory, change.key, other)).catch(() => undefined)),
  );
  return true;
}

function fileOf(directory: string, key: string, generation: number): string {
  return join(directory, `${key}.${generation}`);
}

function isSame(a: Lease, b: Lease): boolean {
  return a.workflowId === b.workflowId && a.firstRunId === b.firstRunId;
}

/** A file that no longer reads as a lease belongs to nobody who could give it back. */
function parseLease(text: string): Lease | undefined {
  try {
    return leaseSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
