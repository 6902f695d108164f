import type { Config } from '../config';
import { loadConfig } from '../config';
import type { Io } from './io';
import { commandName } from './package-root';
import type { Session } from './session';
import { openSession } from './session';

/** What every command gets. */
export interface CommandContext {
  readonly io: Io;
  /** How the person calls the program, for the commands that we suggest. */
  readonly command: string;
  /** Reads the configuration. @throws ConfigError */
  config(flags: { readonly settings?: string; readonly sandbox?: string }): Config;
  /** The exit code that the process ends with. */
  exitWith(code: number): void;
}

export function createContext(io: Io, exitWith: (code: number) => void): CommandContext {
  return {
    io,
    command: commandName(io.env),
    config: ({ settings, sandbox }) =>
      loadConfig(io.env, {
        ...(settings === undefined ? {} : { settingsFile: settings }),
        ...(sandbox === undefined ? {} : { sandbox }),
      }),
    exitWith,
  };
}

/** Opens a session and uses it. @throws CliError when Temporal cannot be reached. */
export async function withSession<T>(
  { io }: CommandContext,
  config: Config,
  use: (session: Session) => Promise<T>,
  options: { readonly starts: boolean } = { starts: false },
): Promise<T> {
  return use(await openSession(config, io, options));
}
