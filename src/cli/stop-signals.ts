import { EXIT_CODES, EXIT_SIGTERM } from '../contract/outcome';

export type StopSignal = 'SIGINT' | 'SIGTERM';

export function stopExitCode(signal: StopSignal): number {
  return signal === 'SIGINT' ? EXIT_CODES.cancelled : EXIT_SIGTERM;
}

/** Ctrl-C and SIGTERM, one by one, instead of the sudden end that they are by default. */
export interface StopSignals {
  /** The next one, also if it came before it was asked for. */
  next(): Promise<StopSignal>;
  dispose(): void;
}

export function watchStopSignals(): StopSignals {
  const waiting: ((signal: StopSignal) => void)[] = [];
  const queued: StopSignal[] = [];
  const take = (signal: StopSignal): void => {
    const resolve = waiting.shift();
    if (resolve === undefined) queued.push(signal);
    else resolve(signal);
  };
  const onInterrupt = (): void => take('SIGINT');
  const onTerminate = (): void => take('SIGTERM');
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  return {
    next: () =>
      new Promise((resolve) => {
        const signal = queued.shift();
        if (signal === undefined) waiting.push(resolve);
        else resolve(signal);
      }),
    dispose: () => {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
    },
  };
}
