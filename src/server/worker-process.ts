import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { z } from 'zod';
import type { RunningPart } from './keep-running';
import { StartFailure, StartRefused } from './keep-running';
import { openLog } from './log-file';
import { endProcess, identify } from './process-identity';

const STOP_GRACE_MS = 10_000;

export interface WorkerProcessOptions {
  readonly entry: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly address: string;
  readonly namespace: string;
  readonly logFile: string;
  /** Told as soon as the process exists, before it is ready. */
  onSpawn(worker: RunningPart): void;
}

/**
 * Starts the worker and waits for its message `{type: 'ready'}`, which it sends when its pollers run. It is told about
 * the end of this process by the closing of the channel, and then ends by itself.
 * @throws StartFailure when it ends before that; StartRefused when it said that its configuration cannot work.
 */
export async function startWorker(options: WorkerProcessOptions, signal: AbortSignal): Promise<RunningPart> {
  const child = launch(options);
  const exited = new Promise<number | undefined>((resolve) => {
    child.once('exit', (code) => resolve(code ?? undefined)).once('error', () => resolve(undefined));
  });
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  if (identity === undefined) {
    throw new StartFailure('the worker ended at once', await exited);
  }
  const part: RunningPart = {
    identity,
    exited,
    stop: async () => {
      await endProcess(identity, STOP_GRACE_MS);
      await exited;
    },
  };
  options.onSpawn(part);
  const stop = (): void => void part.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const outcome = await Promise.race([firstWord(child), exited.then((code) => ({ code }))]);
    if ('ready' in outcome) return part;
    if ('refused' in outcome) throw new StartRefused(outcome.refused, await exited);
    throw new StartFailure(`the worker ended before it was ready (${outcome.code ?? 'killed'})`, outcome.code);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function launch(options: WorkerProcessOptions): ChildProcess {
  const log = openLog(options.logFile);
  try {
    return spawn(process.execPath, [options.entry], {
      cwd: options.home,
      env: workerEnvironment(options),
      stdio: ['ignore', log, log, 'ipc'],
    });
  } finally {
    closeSync(log);
  }
}

/** Settings for another server (an API key, TLS) must not be applied to this one. */
function workerEnvironment({ env, address, namespace, home }: WorkerProcessOptions): Record<string, string> {
  const others = Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  return {
    ...Object.fromEntries(others),
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    SUREHAND_HOME: home,
    SUREHAND_EMBEDDED: '1',
  };
}

const wordSchema = z.union([
  z.object({ type: z.literal('ready') }).transform(() => ({ ready: true }) as const),
  z.object({ type: z.literal('refused'), reason: z.string() }).transform(({ reason }) => ({ refused: reason })),
]);

function firstWord(child: ChildProcess): Promise<z.infer<typeof wordSchema>> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      const word = wordSchema.safeParse(message);
      if (word.success) resolve(word.data);
    });
  });
}
