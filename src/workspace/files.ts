import { constants, realpathSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { replaceFile } from './atomic-write';
import { entryPath, openEntry, reopen, withDirectory } from './dir-walk';
import { isNodeError } from './node-error';
import { parseWorkspacePath, resolveInside } from './path-guard';
import type { WorkspaceRoot } from './path-guard';
import { WorkspaceError } from './ports';
import type { DirectoryEntry, FileContent, WorkspaceFiles } from './ports';
import { isProtectedPath } from './protected-path';

/**
 * Files of one workspace, for tools. Linux only: the walk needs `/proc/self/fd`.
 *
 * A hard link to a file outside cannot be told from a file inside and is read; a sandboxed command cannot make one, and
 * a write replaces the name, so the twin outside stays as it was.
 * @throws when the directory does not exist.
 */
export function createWorkspaceFiles(directory: string): WorkspaceFiles {
  const given = resolve(directory);
  const root: WorkspaceRoot = { given, canonical: realpathSync(given) };
  const locate = async (path: string): Promise<readonly string[]> =>
    await resolveInside(root, parseWorkspacePath(root, path));
  return {
    directory: root.canonical,
    resolve: async (path) => {
      return (await locate(path)).join('/') || '.';
    },
    read: async (path, options) => await inWords(path, async () => await readFile(root, await locate(path), options)),
    write: async (path, bytes) =>
      await inWords(path, async () => {
        const asked = parseWorkspacePath(root, path);
        const real = await resolveInside(root, asked);
        if (isProtectedPath(asked) || isProtectedPath(real)) throw protectedRefusal(path);
        return await writeFile(root, real, bytes);
      }),
    exists: async (path) =>
      await inWords(path, async () => {
        const found = await lstat([root.canonical, ...(await locate(path))].join('/')).catch(() => undefined);
        return found !== undefined;
      }),
    list: async (path, options) =>
      await inWords(path, async () => {
        const components = await locate(path);
        const listed = await withDirectory(root.canonical, { components, create: false }, async (handle) => {
          return await listDirectory(handle, options.maxEntries);
        });
        return { path: components.join('/') || '.', ...listed };
      }),
  };
}

async function readFile(
  root: WorkspaceRoot,
  components: readonly string[],
  options: { readonly maxBytes: number },
): Promise<FileContent> {
  const { parents, name, shown } = leafOf(components);
  return await withDirectory(root.canonical, { components: parents, create: false }, async (directory) => {
    const named = await openEntry(directory, name);
    try {
      const stat = await named.stat();
      requireRegular(stat, shown);
      if (stat.size > options.maxBytes) throw tooLarge(shown, stat.size, options.maxBytes);
      const opened = await reopen(named, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const bytes = await readUpTo(opened, options.maxBytes);
        if (bytes === undefined) throw tooLarge(shown, options.maxBytes + 1, options.maxBytes);
        return { bytes, mode: stat.mode & 0o7777, path: shown, size: bytes.length };
      } finally {
        await opened.close();
      }
    } finally {
      await named.close();
    }
  });
}

/** Whole content, or undefined once it is longer than the cap (files under `/proc`-like mounts say size 0). */
async function readUpTo(file: FileHandle, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const buffer = Buffer.allocUnsafe(64 * 1024);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    total += bytesRead;
    if (total > maxBytes) return undefined;
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

async function writeFile(
  root: WorkspaceRoot,
  components: readonly string[],
  bytes: Uint8Array,
): Promise<{ readonly path: string; readonly created: boolean }> {
  const { parents, name, shown } = leafOf(components);
  return await withDirectory(root.canonical, { components: parents, create: true }, async (directory) => {
    const existing = await openEntry(directory, name).catch((error: unknown) => {
      if (isNodeError(error, 'ENOENT')) return undefined;
      throw error;
    });
    try {
      if (existing !== undefined) requireRegular(await existing.stat(), shown);
      await replaceFile({ directory, name, existing, shown }, bytes);
      return { path: shown, created: existing === undefined };
    } finally {
      await existing?.close();
    }
  });
}

async function listDirectory(
  directory: FileHandle,
  maxEntries: number,
): Promise<{ readonly entries: readonly DirectoryEntry[]; readonly omitted: number }> {
  const found = await readdir(`/proc/self/fd/${directory.fd}`, { withFileTypes: true });
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  const entries: DirectoryEntry[] = [];
  for (const entry of found.slice(0, maxEntries)) {
    const stat = await lstat(entryPath(directory, entry.name)).catch(() => undefined);
    const kind = entry.isFile()
      ? 'file'
      : entry.isDirectory()
        ? 'directory'
        : entry.isSymbolicLink()
          ? 'link'
          : 'other';
    entries.push({ name: entry.name, kind, size: stat?.size ?? 0 });
  }
  return { entries, omitted: Math.max(0, found.length - maxEntries) };
}

function leafOf(components: readonly string[]): { parents: readonly string[]; name: string; shown: string } {
  const name = components.at(-1);
  if (name === undefined) throw new WorkspaceError('"." is the workspace directory, not a file. Name a file in it.');
  return { parents: components.slice(0, -1), name, shown: components.join('/') };
}

function requireRegular(
  stat: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean },
  shown: string,
): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw new WorkspaceError(`"${shown}" is a directory. Use list_files to see what is in it.`);
  if (stat.isSymbolicLink()) throw new WorkspaceError(`"${shown}" became a link meanwhile. Look again.`);
  throw new WorkspaceError(
    `"${shown}" is not a regular file (a pipe, socket or device). Only regular files can be used.`,
  );
}

function tooLarge(shown: string, size: number, maxBytes: number): WorkspaceError {
  const kind = size > maxBytes + 1 ? `has ${size} bytes` : 'is larger than allowed';
  return new WorkspaceError(
    `"${shown}" ${kind}; at most ${maxBytes} are read. Use grep, or bash with head, tail or sed -n, to look at a part.`,
  );
}

function protectedRefusal(path: string): WorkspaceError {
  return new WorkspaceError(
    `"${path}" is protected: git would run what stands there. It cannot be written by a tool; ask the person to do it.`,
  );
}

/** Turns the operating system's errors into sentences; anything unexpected stays as it is. */
async function inWords<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isNodeError(error)) throw error;
    const sentence = SENTENCES[error.code ?? ''];
    if (sentence === undefined) throw error;
    throw new WorkspaceError(`"${path}" ${sentence}`, { cause: error });
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Use list_files or glob to find the right path.',
  ENOTDIR: 'is not a directory.',
  EISDIR: 'is a directory. Use list_files to see what is in it.',
  EACCES: "is not accessible for the worker's user.",
  EPERM: "is not accessible for the worker's user.",
  EROFS: 'is on a read-only file system.',
  ENOSPC: 'was not written: the disk is full. Nothing was changed.',
  EDQUOT: 'was not written: the disk quota is used up. Nothing was changed.',
  EFBIG: 'was not written: the file would be too large. Nothing was changed.',
  ENAMETOOLONG: 'has a name that is too long.',
  ELOOP: 'became a link meanwhile. Look again.',
  ENXIO: 'is not a regular file.',
};
