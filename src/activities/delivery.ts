import type { OwnedCall } from './call-owners';

/**
 * Why an attempt is to stop. `cancelled`: somebody wants the work itself to end. `shutdown`: this worker goes, the work
 * need not. `lost`: the server does not count on this attempt any more, which says nothing about the work.
 */
export type AbortMeaning = 'cancelled' | 'shutdown' | 'lost';

export interface Delivery {
  readonly signal: AbortSignal;
  readonly meaning: () => AbortMeaning;
  /** Asked when contact was lost: is the run over, so that nobody will ask for this call again? */
  readonly isRunClosed: () => Promise<boolean>;
}

/**
 * One delivery waits for the owner of its call. Lost contact is not cancellation: then only the waiting ends, and the
 * work goes on for the delivery that comes next, unless the run is closed.
 */
export function awaitOwned<Result>(owned: OwnedCall<Result>, delivery: Delivery): Promise<Result> {
  const { signal, meaning, isRunClosed } = delivery;
  return new Promise((resolve, reject) => {
    owned.result.then(resolve, reject);
    const stopWaiting = (): void => {
      reject(signal.reason as Error);
    };
    const onAbort = (): void => {
      switch (meaning()) {
        case 'cancelled':
          owned.stop('cancelled');
          return;
        case 'shutdown':
          owned.stop('detach');
          stopWaiting();
          return;
        case 'lost':
          stopWaiting();
          isRunClosed().then(
            (closed) => {
              if (closed) owned.stop('cancelled');
            },
            // The server cannot be asked: the next delivery, or the sweep at the next start, finds the command.
            () => undefined,
          );
      }
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
