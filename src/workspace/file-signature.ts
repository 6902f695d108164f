import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isNodeError } from './node-error';

/** What a name shows, so that two looks can be compared. */
export interface FileSignature {
  /** Size, times and inode: equal means that nothing was changed, since no program can set the change time. */
  readonly stat: string;
  readonly mode: number;
  readonly changedAtMs: number;
  /** Of the content, or of a link's target. Absent where reading it would cost too much. */
  readonly digest?: string;
}

/** How many bytes may still be read for digests. One budget serves many looks. */
export interface DigestBudget {
  bytes: number;
}

/** Larger files are told by their times alone. */
const MAX_DIGEST_BYTES = 1024 ** 2;
const LOOKS_AT_ONCE = 32;

/**
 * Looks at names of the workspace without following a link at their end. `null`: nothing, a directory, or not to be
 * looked at. With what was `known` before, a file whose times are the same is not read again.
 */
export async function signaturesOf(
  root: string,
  paths: Iterable<string>,
  options: { readonly budget: DigestBudget; readonly known?: ReadonlyMap<string, FileSignature | null> },
): Promise<Map<string, FileSignature | null>> {
  const found = new Map<string, FileSignature | null>();
  const rest = [...new Set(paths)].reverse();
  const look = async (): Promise<void> => {
    for (let path = rest.pop(); path !== undefined; path = rest.pop()) {
      found.set(path, await signatureOf(join(root, path), options.budget, options.known?.get(path)));
    }
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, look));
  return found;
}

async function signatureOf(
  path: string,
  budget: DigestBudget,
  known: FileSignature | null | undefined,
): Promise<FileSignature | null> {
  try {
    const found = await lstat(path, { bigint: true });
    if (found.isDirectory()) return null;
    const signature = {
      stat: [found.size, found.mtimeNs, found.ctimeNs, found.ino].join(' '),
      mode: Number(found.mode & 0o7777n),
      changedAtMs: Number(found.ctimeMs),
    };
    if (known?.stat === signature.stat) return known;
    if (found.isSymbolicLink()) return { ...signature, digest: `link ${await readlink(path)}` };
    const size = Number(found.size);
    if (!found.isFile() || size > MAX_DIGEST_BYTES || size > budget.bytes) return signature;
    budget.bytes -= size;
    return { ...signature, digest: await contentDigest(path) };
  } catch (error) {
    if (isNodeError(error)) return null;
    throw error;
  }
}

/** Whether a name shows something else than before. Without digests a file that was only touched counts as changed. */
export function isChanged(before: FileSignature | null, now: FileSignature | null): boolean {
  if (before === null || now === null) return before !== now;
  if (before.stat === now.stat) return false;
  return before.mode !== now.mode || before.digest === undefined || before.digest !== now.digest;
}

async function contentDigest(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return createHash('sha256')
      .update(await file.readFile())
      .digest('hex');
  } finally {
    await file.close();
  }
}
