import { statSync, utimesSync, writeFileSync } from 'node:fs';
import type { StateFiles } from './state-directory';

const LONGEST_CHECK_MS = 60_000;

/** Says that a client needs the daemon now. Commands that stay attached repeat it now and then. */
export function touchContact(files: StateFiles): void {
  const now = new Date();
  try {
    utimesSync(files.contact, now, now);
  } catch {
    writeFileSync(files.contact, '', { mode: 0o600 });
  }
}

/** When a client last asked for the daemon (ms since the epoch); 0 for never. */
export function lastContactMs(files: StateFiles): number {
  return statSync(files.contact, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

export interface IdleOptions {
  readonly files: StateFiles;
  readonly idleMs: number;
  /** How many runs are open; a rejection counts as some. */
  countOpenRuns(): Promise<number>;
  /** Called at each check, idle or not. */
  onCheck(): void;
  onIdle(): void;
}

/** Calls `onIdle` when no client was there and no run was open for `idleMs`; may call it again later. */
export function watchIdle(options: IdleOptions): { stop(): void } {
  let lastBusyMs = Date.now();
  const check = async (): Promise<void> => {
    options.onCheck();
    const open = await options.countOpenRuns().catch(() => 1);
    if (open > 0) lastBusyMs = Date.now();
    if (Date.now() - Math.max(lastBusyMs, lastContactMs(options.files)) >= options.idleMs) options.onIdle();
  };
  let checking = false;
  const timer = setInterval(
    () => {
      if (checking) return;
      checking = true;
      void check().finally(() => (checking = false));
    },
    Math.min(options.idleMs / 4, LONGEST_CHECK_MS),
  );
  return { stop: () => clearInterval(timer) };
}
