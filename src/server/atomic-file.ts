import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { errorCode } from './server-error';

/** Replaces a file in one step: a reader sees the old content or the new one. */
export function writeJsonFile(path: string, value: unknown): void {
  const scratch = writeScratch(path, value);
  renameSync(scratch, path);
}

/** Creates a file with its content in one step; answers false, changing nothing, when it exists already. */
export function createJsonFile(path: string, value: unknown): boolean {
  const scratch = writeScratch(path, value);
  try {
    linkSync(scratch, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(scratch, { force: true });
  }
}

/** The parsed content of a file; undefined when it is missing or not what the schema says. */
export function readJsonFile<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function writeScratch(path: string, value: unknown): string {
  const scratch = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  writeFileSync(scratch, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  return scratch;
}
