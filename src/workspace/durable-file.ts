import { randomUUID } from 'node:crypto';
import { link, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isNodeError } from './node-error';

/**
 * A whole file that survives a power loss once this resolves; an existing one is replaced.
 * @param madeIn see `createDurably`.
 */
export async function writeDurably(path: string, text: string, madeIn: readonly string[] = []): Promise<void> {
  const temporary = await writeTemporary(path, text);
  await rename(temporary, path);
  await Promise.all([dirname(path), ...madeIn].map(syncDirectory));
}

/**
 * Like `writeDurably`, but only one caller ever succeeds. @returns false if the file was there.
 * @param madeIn directories that were made for it and whose own entries are not durable yet: synced in the same go.
 */
export async function createDurably(path: string, text: string, madeIn: readonly string[] = []): Promise<boolean> {
  const temporary = await writeTemporary(path, text);
  try {
    await link(temporary, path);
  } catch (error) {
    await unlink(temporary);
    if (isNodeError(error, 'EEXIST')) return false;
    throw error;
  }
  await Promise.all([unlink(temporary), ...[dirname(path), ...madeIn].map(syncDirectory)]);
  return true;
}

/**
 * Makes a directory for our own files, mode 0700.
 * @returns the directories to sync before it is durable; its own parent always, as another process may just have made it.
 */
export async function makeDirectory(path: string): Promise<readonly string[]> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  return [...new Set([dirname(path), dirname(first ?? path)])];
}

async function writeTemporary(path: string, text: string): Promise<string> {
  const temporary = `${path}.${randomUUID()}.new`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  return temporary;
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
