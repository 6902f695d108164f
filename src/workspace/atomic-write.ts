import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, readFile, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { entryPath } from './dir-walk';
import { WorkspaceError } from './ports';

/** The name to replace, in an open directory; `existing` is the O_PATH descriptor of what stands there now. */
export interface ReplaceTarget {
  readonly directory: FileHandle;
  readonly name: string;
  readonly existing: FileHandle | undefined;
  /** Workspace-relative, for messages. */
  readonly shown: string;
}

/**
 * Puts `bytes` in the place of a file in one step: a crash leaves the old content or the new, never a part. Mode and
 * owner stay; a new file gets 0666 less the umask. A read-only file is refused.
 */
export async function replaceFile(target: ReplaceTarget, bytes: Uint8Array): Promise<void> {
  const { directory, existing } = target;
  const old = existing === undefined ? undefined : await existing.stat();
  if (existing !== undefined && old !== undefined) {
    const writable = (old.mode & 0o222) !== 0 && (await mayWrite(existing));
    if (!writable) {
      throw new WorkspaceError(
        `"${target.shown}" is read-only. Change its mode first (bash: chmod u+w), if that is meant.`,
      );
    }
  }
  const mode = old === undefined ? 0o666 & ~(await currentUmask()) : old.mode & 0o7777;
  const temporary = entryPath(directory, `.surehand-${randomBytes(9).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(temporary, flags, 0o600);
  try {
    try {
      await file.writeFile(bytes);
      if (old !== undefined) await keepOwner(file, old);
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, entryPath(directory, target.name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(directory);
}

async function mayWrite(existing: FileHandle): Promise<boolean> {
  try {
    await access(`/proc/self/fd/${existing.fd}`, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A worker without the right to give files away keeps the content right and takes the file over. */
async function keepOwner(file: FileHandle, old: { readonly uid: number; readonly gid: number }): Promise<void> {
  const now = await file.stat();
  if (now.uid === old.uid && now.gid === old.gid) return;
  await file.chown(old.uid, old.gid).catch(() => undefined);
}

async function syncDirectory(directory: FileHandle): Promise<void> {
  const opened = await open(`/proc/self/fd/${directory.fd}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** Read, not set and set back as `process.umask()` does: other threads create files too. */
async function currentUmask(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  const found = /^Umask:\s*([0-7]+)$/mu.exec(status)?.[1];
  return found === undefined ? 0o077 : Number.parseInt(found, 8);
}
