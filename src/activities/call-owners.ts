/** What an abort of a call means to whoever runs it. */
export type StopMeaning = 'cancelled' | 'detach';

export interface CallHooks {
  readonly signal: AbortSignal;
  readonly onProgress: (tail: string, bytes: number) => void;
}

export interface OwnedCall<Result> {
  readonly result: Promise<Result>;
  /** The first word counts. `cancelled` stops the work and lets it report; `detach` leaves a command running. */
  stop(meaning: StopMeaning): void;
}

/** One owner per call in this process: a second delivery joins what the first one began, and hears of its progress. */
export interface CallOwners<Result> {
  join(
    key: string,
    onProgress: CallHooks['onProgress'],
    work: (hooks: CallHooks) => Promise<Result>,
  ): OwnedCall<Result>;
}

export function createCallOwners<Result>(): CallOwners<Result> {
  const owned = new Map<string, OwnedCall<Result> & { listener: CallHooks['onProgress'] }>();
  return {
    join: (key, onProgress, work) => {
      const known = owned.get(key);
      if (known !== undefined) {
        known.listener = onProgress;
        return known;
      }
      const controller = new AbortController();
      const progress: CallHooks['onProgress'] = (tail, bytes) => {
        owned.get(key)?.listener(tail, bytes);
      };
      const result = work({ signal: controller.signal, onProgress: progress }).finally(() => {
        owned.delete(key);
      });
      // A delivery that stopped waiting must not turn a failure into an unhandled one.
      result.catch(() => undefined);
      const call = {
        result,
        listener: onProgress,
        stop: (meaning: StopMeaning) => {
          controller.abort(meaning);
        },
      };
      owned.set(key, call);
      return call;
    },
  };
}
