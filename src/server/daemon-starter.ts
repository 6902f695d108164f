import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { DaemonOptions } from './daemon-options';
import { EXIT_LOCK_HELD } from './daemon-options';
import { parseEntry } from './log-entry';
import { lastLogLines, logSize, openLog } from './log-file';
import { ServerError } from './server-error';
import type { StateFiles } from './state-directory';

export interface DaemonStarter {
  /** Starts a daemon unless the one started before still runs. Throws when that one has failed. */
  startOnce(): Promise<void>;
  hasStarted(): boolean;
  /** An error with the end of what daemon, server and worker wrote since. */
  failure(what: string): ServerError;
}

interface StarterOptions {
  readonly entry: string;
  daemonOptions(): Promise<DaemonOptions>;
}

type Start =
  | { readonly state: 'running' }
  | { readonly state: 'ended'; readonly exitCode: number | null; readonly endedAtMs: number };

const LINES_SHOWN = 5;
const RETRY_MS = 300;

/** Starts daemons for one `ensureDaemon` call and remembers how that went. */
export function createDaemonStarter(
  files: StateFiles,
  onProgress: (line: string) => void,
  options: StarterOptions,
): DaemonStarter {
  const written = [files.daemonEntries, files.daemonLog, files.serverLog, files.workerLog];
  const logs = written.map((file) => ({ file, from: logSize(file) }));
  let start: Start | undefined;

  const failure = (what: string): ServerError => {
    const lines = logs.flatMap(({ file, from }) => lastLogLines(file, LINES_SHOWN, from)).map(textOf);
    const shown = lines.length === 0 ? '' : `\n  ${lines.join('\n  ')}`;
    return new ServerError('unavailable', `${what}${shown}\n  logs: ${files.logs}`);
  };

  return {
    failure,
    hasStarted: () => start !== undefined,
    startOnce: async () => {
      if (start?.state === 'running') return;
      // Another caller's daemon had the lock. It has no record yet or was gone a moment later: then the next try gets it.
      if (start !== undefined && start.exitCode !== EXIT_LOCK_HELD && start.exitCode !== 0) {
        throw failure('the local server and worker could not be started.');
      }
      if (start !== undefined && Date.now() - start.endedAtMs < RETRY_MS) return;
      if (start === undefined) onProgress('starting the local Temporal server and worker');
      const daemonOptions = await options.daemonOptions();
      const child = launch(options.entry, daemonOptions, files);
      start = { state: 'running' };
      const onEnd = (exitCode: number | null): void => {
        start = { state: 'ended', exitCode, endedAtMs: Date.now() };
      };
      child.once('error', () => onEnd(null)).once('exit', onEnd);
    },
  };
}

function textOf(line: string): string {
  const entry = parseEntry(line);
  return entry === undefined ? line : `${entry.time} ${entry.text}`;
}

/** In a session of its own, so that nothing that happens to this terminal reaches it. */
function launch(entry: string, options: DaemonOptions, files: StateFiles): ChildProcess {
  const log = openLog(files.daemonLog);
  try {
    const child = spawn(process.execPath, [entry, options.home], {
      cwd: options.home,
      env: options.env,
      stdio: ['pipe', log, log],
      detached: true,
    });
    // A daemon that ended at once is noticed by its exit, not by a broken pipe.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(JSON.stringify(options));
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}
