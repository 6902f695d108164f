export interface IdleTimer {
  /** Aborted when the timer fires. */
  readonly signal: AbortSignal;
  /** (Re)starts the countdown. */
  restart(): void;
  /** True if the timer, and nobody else, ended the call. */
  expired(): boolean;
  stop(): void;
}

/** Ends a call whose stream makes no progress for `idleMs`: nothing else does, a stalled stream hangs for ever. */
export function createIdleTimer(idleMs: number): IdleTimer {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer);
      timer = setTimeout(() => {
        controller.abort();
      }, idleMs);
    },
    expired: () => controller.signal.aborted,
    stop() {
      clearTimeout(timer);
    },
  };
}
