import { randomUUID } from 'node:crypto';
import { link, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isNodeError } from './node-error';

/** A whole file that survives a power loss once this resolves; an existing one is replaced. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const temporary = await writeTemporary(path, text);
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Like `writeDurably`, but only one caller ever succeeds. @returns false if the file was there. */
export async function createDurably(path: string, text: string): Promise<boolean> {
  const temporary = await writeTemporary(path, text);
  try {
    await link(temporary, path);
  } catch (error) {
    if (isNodeError(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
  await syncDirectory(dirname(path));
  return true;
}

/** Makes a directory for our own files, mode 0700, and its entry durable in the parent. */
export async function makeDirectoryDurably(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined) await syncDirectory(dirname(first));
  await syncDirectory(dirname(path));
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
