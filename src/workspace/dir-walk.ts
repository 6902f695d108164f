import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isNodeError } from './node-error';
import { WorkspaceError } from './ports';

/** Linux's O_PATH: a descriptor that names a file without opening it. Not among Node's constants. */
const O_PATH = 0o10000000;

/** Path of `name` in the open directory: the kernel starts at the descriptor, whatever its name has become. */
export function entryPath(directory: FileHandle, name: string): string {
  return `/proc/self/fd/${directory.fd}/${name}`;
}

/** A descriptor for one entry that follows no link and opens nothing: a FIFO does not block, a device does nothing. */
export async function openEntry(directory: FileHandle, name: string): Promise<FileHandle> {
  return await open(entryPath(directory, name), O_PATH | constants.O_NOFOLLOW);
}

/** Opens for reading or fsync the very file that an O_PATH descriptor names. */
export async function reopen(handle: FileHandle, flags: number): Promise<FileHandle> {
  return await open(`/proc/self/fd/${handle.fd}`, flags);
}

/**
 * Walks from the workspace to a directory one component at a time, following no link, and hands its descriptor to
 * `use`. Every descriptor is closed afterwards. With `create`, missing directories are made on the way.
 * @throws WorkspaceError when a component became a link or is no directory.
 */
export async function withDirectory<Result>(
  root: string,
  walk: { readonly components: readonly string[]; readonly create: boolean },
  use: (directory: FileHandle) => Promise<Result>,
): Promise<Result> {
  let current = await open(root, O_PATH | constants.O_DIRECTORY);
  try {
    for (const component of walk.components) {
      const next = await step(current, component, walk.create);
      await current.close();
      current = next;
    }
    return await use(current);
  } finally {
    await current.close();
  }
}

async function step(directory: FileHandle, component: string, create: boolean): Promise<FileHandle> {
  const path = entryPath(directory, component);
  const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  try {
    return await open(path, flags);
  } catch (error) {
    if (isNodeError(error, 'ENOTDIR', 'ELOOP')) {
      throw new WorkspaceError(`"${component}" is not a directory, or became a link meanwhile.`);
    }
    if (!create || !isNodeError(error, 'ENOENT')) throw error;
  }
  await mkdir(path).catch((error: unknown) => {
    if (!isNodeError(error, 'EEXIST')) throw error;
  });
  return await open(path, flags);
}
