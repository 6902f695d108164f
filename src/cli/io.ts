import type { Readable, Writable } from 'node:stream';
import pc from 'picocolors';
import type { Env } from '../config';
import { CliError } from './cli-error';

export type Colors = ReturnType<typeof pc.createColors>;

/** How a command talks: text for people on stderr, what was promised on stdout. */
export interface Io {
  readonly env: Env;
  readonly stdin: Readable;
  /** stderr is a terminal: colours and a line that changes are welcome. */
  readonly isTerminal: boolean;
  /** stdin is a terminal: somebody types there. */
  readonly inIsTerminal: boolean;
  /** stdout is a terminal: what is written there is read by a person. */
  readonly outIsTerminal: boolean;
  readonly width: number;
  readonly colors: Colors;
  /** Lines for people. Text from outside must have gone through `visibleText`. */
  say(text: string): void;
  /** Asks for a line: text without an end of line. */
  prompt(text: string): void;
  /** The changing last lines of a terminal, none wider than it is; `undefined` removes them. Nothing elsewhere. */
  status(text: string | undefined): void;
  /**
   * Writes to stdout and waits until it is written.
   * @throws CliError when it cannot be written whole; without a message when the reader has gone.
   */
  write(text: string): Promise<void>;
}

export interface IoStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

const DEFAULT_WIDTH = 100;
const MIN_WIDTH = 40;
const EXIT_OUTPUT = 1;

export function createIo(env: Env, streams: IoStreams): Io {
  const { stdin, stdout, stderr } = streams;
  const isTerminal = stderr.isTTY === true && env['TERM'] !== 'dumb';
  let linesShown = 0;
  // A reader that has gone must not end the process with a stack trace, whenever it is noticed.
  stdout.on('error', () => undefined);
  stderr.on('error', () => undefined);

  const clear = (): void => {
    if (linesShown > 0) stderr.write(`\r\u001b[2K${'\u001b[1A\u001b[2K'.repeat(linesShown - 1)}`);
    linesShown = 0;
  };
  return {
    env,
    stdin,
    isTerminal,
    inIsTerminal: stdin.isTTY === true,
    outIsTerminal: stdout.isTTY === true,
    get width() {
      // Some terminals say 0.
      return Math.max(MIN_WIDTH, stderr.columns || DEFAULT_WIDTH);
    },
    colors: pc.createColors(isTerminal && !env['NO_COLOR']),
    say: (text) => {
      clear();
      stderr.write(`${text}\n`);
    },
    prompt: (text) => {
      clear();
      stderr.write(text);
    },
    status: (text) => {
      if (!isTerminal) return;
      clear();
      if (text === undefined) return;
      stderr.write(text);
      linesShown = text.split('\n').length;
    },
    write: (text) => {
      clear();
      return writeWhole(stdout, text);
    },
  };
}

function writeWhole(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(outputError(error));
    });
  });
}

function outputError(error: Error): CliError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const gone = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
  const message = gone ? '' : `The output cannot be written (${code ?? error.message}).`;
  return new CliError(EXIT_OUTPUT, message, { cause: error });
}
