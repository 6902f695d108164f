import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isNodeError } from './node-error';
import { WorkspaceError } from './ports';

const MAX_PATH_BYTES = 4096;

/** The workspace by the name it was given and by its real name; a path may use either. */
export interface WorkspaceRoot {
  readonly given: string;
  readonly canonical: string;
}

/**
 * The components of a path as the model wrote it, relative to the workspace. Pure text: nothing is looked up.
 * @throws WorkspaceError when the text leaves the workspace, climbs with `..`, or is no path at all.
 */
export function parseWorkspacePath(root: WorkspaceRoot, path: string): readonly string[] {
  if (path === '') throw new WorkspaceError('The path is empty. Use "." for the workspace itself.');
  if (path.includes('\0')) throw new WorkspaceError('The path contains a NUL character. Remove it.');
  if (/\p{Surrogate}/u.test(path)) throw new WorkspaceError('The path is not valid Unicode. Write it again.');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new WorkspaceError(`The path is longer than ${MAX_PATH_BYTES} bytes.`);
  }
  const components = split(path.startsWith('/') ? stripRoot(root, path) : path);
  if (components.includes('..')) {
    throw new WorkspaceError(`"${path}" contains "..". Write the path relative to the workspace, without "..".`);
  }
  return components;
}

/**
 * Follows links as the kernel would and gives the components of the real place. Components that do not exist yet are
 * kept as they are behind the deepest one that does.
 * @throws WorkspaceError when the real place is outside, or a link leads nowhere or in a circle.
 */
export async function resolveInside(root: WorkspaceRoot, components: readonly string[]): Promise<readonly string[]> {
  const full = join(root.canonical, ...components);
  const shown = components.join('/');
  const real = await realpath(full).catch((error: unknown) => {
    if (isNodeError(error, 'ENOENT')) return undefined;
    throw refusal(error, shown);
  });
  if (real !== undefined) return inside(root, real, shown);
  const last = components.at(-1);
  if (last === undefined)
    throw new WorkspaceError('The workspace directory is gone. Nothing can be done until it is back.');
  if (await isLink(full)) {
    throw new WorkspaceError(`"${shown}" is a link that leads nowhere. Name the real file instead.`);
  }
  return [...(await resolveInside(root, components.slice(0, -1))), last];
}

function split(path: string): string[] {
  return path.split('/').filter((component) => component !== '' && component !== '.');
}

function stripRoot(root: WorkspaceRoot, path: string): string {
  const wanted = split(path);
  for (const name of [root.given, root.canonical]) {
    const base = split(name);
    if (base.every((component, index) => wanted[index] === component)) return wanted.slice(base.length).join('/');
  }
  throw outside(path);
}

function inside(root: WorkspaceRoot, real: string, shown: string): readonly string[] {
  if (real === root.canonical) return [];
  const prefix = root.canonical === '/' ? '/' : `${root.canonical}/`;
  if (!real.startsWith(prefix)) throw outside(shown);
  return split(real.slice(prefix.length));
}

async function isLink(full: string): Promise<boolean> {
  const found = await lstat(full).catch(() => undefined);
  return found?.isSymbolicLink() ?? false;
}

function outside(shown: string): WorkspaceError {
  return new WorkspaceError(`"${shown}" is outside the workspace. Only files inside the workspace can be used.`);
}

function refusal(error: unknown, shown: string): unknown {
  if (isNodeError(error, 'ELOOP'))
    return new WorkspaceError(`"${shown}" is a circle of links. Name a real file instead.`);
  if (isNodeError(error, 'ENOTDIR'))
    return new WorkspaceError(`"${shown}" goes through a file as if it were a directory.`);
  if (isNodeError(error, 'EACCES')) return new WorkspaceError(`"${shown}" may not be read by the worker's user.`);
  if (isNodeError(error, 'ENAMETOOLONG')) return new WorkspaceError(`A name in "${shown}" is too long.`);
  return error;
}
