import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Env } from '../config';

/** The directory of package.json: sources, a build of them and an installed package lie differently deep in it. */
function packageRoot(): string {
  for (let directory = __dirname; ; directory = path.dirname(directory)) {
    if (existsSync(path.join(directory, 'package.json'))) return directory;
    if (directory === path.dirname(directory)) throw new Error('package.json is not above the program');
  }
}

/** Id of this build: client, daemon and worker of one build belong together. */
export function buildId(): string {
  try {
    return readFileSync(path.join(__dirname, '..', 'build-id'), 'utf8').trim();
  } catch {
    return 'unbuilt';
  }
}

export function packageVersion(): string {
  const text = readFileSync(path.join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** How this person calls the program, for the commands that we suggest. */
export function commandName(env: Env): string {
  if (env['npm_lifecycle_event'] === 'start') return 'npm start --';
  return existsSync(path.join(packageRoot(), 'src')) ? './surehand' : 'surehand';
}

/** The directory of a shipped example. */
export function examplePath(...parts: readonly string[]): string {
  return path.join(packageRoot(), 'examples', ...parts);
}
