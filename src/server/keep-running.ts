import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonLog } from './logger';
import type { ProcessIdentity } from './process-identity';

/** A started process that does its work. */
export interface RunningPart {
  readonly identity: ProcessIdentity;
  /** Settles with the exit code (undefined: ended by a signal or unknown) when it has ended. */
  readonly exited: Promise<number | undefined>;
  stop(): Promise<void>;
}

export interface PartOptions<T extends RunningPart> {
  /** For the log. */
  readonly name: string;
  /** Starts it and waits until it works. Rejects when it does not come up; nothing is left running then. */
  start(signal: AbortSignal): Promise<T>;
  /** It works. */
  onUp(part: T): void;
  /**
   * It has ended or did not come up; `refusal` if it said that it never will. `giveUp` with a reason ends the restarting.
   */
  onDown(exitCode: number | undefined, refusal?: string): { readonly giveUp?: string };
  readonly log: DaemonLog;
}

export interface KeptPart {
  /** Ends the process and the restarting. */
  stop(): Promise<void>;
  /** Ends the process; it is started again at once. */
  restart(): Promise<void>;
}

/** A start that failed with the exit code of the process. */
export class StartFailure extends Error {
  readonly exitCode: number | undefined;

  constructor(message: string, exitCode: number | undefined) {
    super(message);
    this.name = 'StartFailure';
    this.exitCode = exitCode;
  }
}

/** A start that no repetition can make succeed: somebody has to change something first. The message says what. */
export class StartRefused extends StartFailure {}

const STABLE_MS = 10_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** How long to wait before a start, after so many failures in a row: the first restart comes at once. */
export function restartDelayMs(failures: number): number {
  return failures <= 1 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (failures - 2), LONGEST_DELAY_MS);
}

/** Starts a process and starts it again whenever it ends, with a growing delay while it does not stay up. */
export function keepRunning<T extends RunningPart>(options: PartOptions<T>): KeptPart {
  const stopping = new AbortController();
  let starting = new AbortController();
  let current: T | undefined;
  let failures = 0;

  const runOnce = async (): Promise<{ readonly exitCode: number | undefined; readonly refusal?: string }> => {
    starting = new AbortController();
    try {
      current = await options.start(starting.signal);
    } catch (error) {
      failures += 1;
      if (!starting.signal.aborted) options.log(`${options.name}: ${messageOf(error)}`, 'warn');
      const exitCode = error instanceof StartFailure ? error.exitCode : undefined;
      return error instanceof StartRefused ? { exitCode, refusal: error.message } : { exitCode };
    }
    const upSince = Date.now();
    if (starting.signal.aborted) await current.stop();
    else options.onUp(current);
    const exitCode = await current.exited;
    current = undefined;
    failures = Date.now() - upSince >= STABLE_MS ? 1 : failures + 1;
    if (!stopping.signal.aborted)
      options.log(`${options.name} ended (${exitCode ?? 'killed'}); starting it again`, 'warn');
    return { exitCode };
  };

  const loop = async (): Promise<void> => {
    while (await isTime(restartDelayMs(failures), stopping.signal)) {
      const { exitCode, refusal } = await runOnce();
      const { giveUp } = options.onDown(exitCode, refusal);
      if (giveUp === undefined) continue;
      options.log(giveUp, 'error');
      return;
    }
  };

  const end = async (): Promise<void> => {
    starting.abort();
    await current?.stop();
  };
  const ended = loop();
  return {
    stop: async () => {
      stopping.abort();
      await end();
      await ended;
    },
    restart: end,
  };
}

/** Waits; answers false when it is to stop instead. */
async function isTime(afterMs: number, signal: AbortSignal): Promise<boolean> {
  if (afterMs > 0) await sleep(afterMs, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
