import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import envPaths from 'env-paths';
import { describeIssue, settingsSchema } from './config-schema';
import type { Settings } from './config-schema';
import { ConfigError, codeOf } from './config-value';
import type { Env } from './config-value';

export interface SettingsSource {
  readonly path: string;
  /** Absent when there is no such file. */
  readonly text?: string;
}

/** The settings file that is named, else the user's own, which may be absent. @throws ConfigError */
export function findSettings(env: Env, flag: string | undefined): SettingsSource {
  const named = flag ?? env['SUREHAND_SETTINGS'];
  const required = named !== undefined && named !== '';
  const file = required ? path.resolve(named) : path.join(userDirectory('config', '.config'), 'settings.json');
  try {
    return { path: file, text: readFileSync(file, 'utf8') };
  } catch (error) {
    if (!required && isMissing(error)) return { path: file };
    throw new ConfigError(`The settings file ${file} cannot be read (${codeOf(error)}).`, { cause: error });
  }
}

/** @throws ConfigError that names the file. */
export function parseSettings(source: SettingsSource): Settings {
  if (source.text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(source.text);
  } catch (error) {
    throw new ConfigError(
      `The settings file ${source.path} is not valid JSON${whereInText(error, source.text)}. Correct it or remove it.`,
      { cause: error },
    );
  }
  const parsed = settingsSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`The settings file ${source.path} is not usable: ${describeIssue(parsed.error)}. Correct it.`);
}

/** The parser's own message quotes the text around the error, which may be a key. */
function whereInText(error: unknown, text: string): string {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (line ${String(text.slice(0, Number(position)).split('\n').length)})`;
}

/** env-paths follows HOME, which may be empty; then the password file decides. */
export function userDirectory(kind: 'config' | 'data' | 'log', fallback: string): string {
  const directory = envPaths('surehand', { suffix: '' })[kind];
  if (path.isAbsolute(directory)) return directory;
  try {
    const { homedir } = os.userInfo();
    if (path.isAbsolute(homedir)) return path.join(homedir, fallback, 'surehand');
  } catch {
    // No entry in the password file: said below.
  }
  throw new ConfigError('This user has no home directory. Set HOME, or SUREHAND_HOME to a directory for the state.');
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}
