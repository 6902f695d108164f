import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupError } from './say.mjs';

/** The directory that holds package.json. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Holds the builds; `dist` is a link to one of them. */
export const BUILDS = path.join(ROOT, '.build');

/** An installed package has no sources: it comes built, and only its tools are fetched. */
export function isCheckout() {
  return existsSync(path.join(ROOT, 'src')) && existsSync(path.join(ROOT, 'tsconfig.json'));
}

/** Where this user's tools are kept; the compiled code (src/server/tool-paths.ts) looks in the same place. */
export function toolsDirectory(env) {
  const cache = env.XDG_CACHE_HOME;
  if (cache !== undefined && path.isAbsolute(cache)) return path.join(cache, 'surehand', 'tools');
  return path.join(homeDirectory(env), '.cache', 'surehand', 'tools');
}

function homeDirectory(env) {
  if (env.HOME !== undefined && path.isAbsolute(env.HOME)) return env.HOME;
  try {
    const { homedir } = os.userInfo();
    if (path.isAbsolute(homedir)) return homedir;
  } catch {
    // No entry in the password file: said below.
  }
  throw new SetupError(
    'this user has no home directory, so there is no place to keep downloaded tools.',
    'Set HOME (or XDG_CACHE_HOME) to a directory that you can write to, and run it again.',
  );
}
