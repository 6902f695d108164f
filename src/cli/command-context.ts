import type { Config } from '../config';
import { loadConfig } from '../config';
import type { Io } from './io';
import { commandName } from './package-root';
import type { Session } from './session';
import { openSession } from './session';

/** The flags that decide about the configuration. */
interface ConfigFlags {
  readonly settings?: string;
  readonly sandbox?: string;
  readonly healthPort?: string;
  readonly tools?: readonly string[];
  /** The command starts a worker, whose settings file may name tools. */
  readonly forWorker?: boolean;
}

/** What every command gets. */
export interface CommandContext {
  readonly io: Io;
  /** How the person calls the program, for the commands that we suggest. */
  readonly command: string;
  /** Reads the configuration. @throws ConfigError */
  config(flags: ConfigFlags): Config;
  /** The exit code that the process ends with. */
  exitWith(code: number): void;
}

export function createContext(io: Io, exitWith: (code: number) => void): CommandContext {
  return {
    io,
    command: commandName(io.env),
    config: ({ settings, sandbox, healthPort, tools, forWorker }) =>
      loadConfig(io.env, {
        ...(settings === undefined ? {} : { settingsFile: settings }),
        ...(sandbox === undefined ? {} : { sandbox }),
        ...(healthPort === undefined ? {} : { healthPort }),
        ...(tools === undefined ? {} : { tools }),
        ...(forWorker === undefined ? {} : { forWorker }),
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
