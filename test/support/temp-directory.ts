import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** A fresh, empty directory without links in its path. `removeTempDirectories` removes it. */
export async function tempDirectory(name = 'test'): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), `surehand-${name}-`)));
  made.push(directory);
  return directory;
}

/** For `afterAll` or `afterEach`: removes what `tempDirectory` made in this test file. */
export async function removeTempDirectories(): Promise<void> {
  await Promise.all(made.splice(0).map((directory) => rm(directory, { recursive: true, force: true, maxRetries: 5 })));
}
