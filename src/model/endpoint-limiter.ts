import { PortError } from '../contract/port-error';
import { abortableSleep } from './abortable-sleep';
import type { Model } from './port';

/** Longer cool-downs are not waited out here: the call fails with the rest of the wait, and its retry comes after it. */
const MAX_COOLDOWN_WAIT_MS = 15_000;

export interface EndpointLimiterOptions {
  readonly maxConcurrent: number;
}

/**
 * One per endpoint, shared by all conversations of the worker. The models it wraps run at most `maxConcurrent` calls at
 * once, first come first served; when the endpoint answers 429 or 529 with a time to wait, no call starts before that
 * is over. Waiting ends with the signal's reason, or with the same failure if the wait is long.
 */
export function createEndpointLimiter(options: EndpointLimiterOptions): (model: Model) => Model {
  const slots = createSlots(options.maxConcurrent);
  let cooldown: { readonly until: number; readonly error: PortError } | undefined;

  const waitForCooldown = async (signal: AbortSignal) => {
    // A call that was already under way may lengthen the cool-down meanwhile.
    while (cooldown !== undefined) {
      const leftMs = cooldown.until - Date.now();
      if (leftMs <= 0) return;
      if (leftMs > MAX_COOLDOWN_WAIT_MS) {
        const { failure } = cooldown.error;
        throw new PortError({ ...failure, retryAfterMs: leftMs }, { cause: cooldown.error });
      }
      await abortableSleep(leftMs, signal);
    }
  };

  const noteFailure = (error: unknown) => {
    if (!(error instanceof PortError)) return;
    const { class: failureClass, retryAfterMs } = error.failure;
    if (retryAfterMs === undefined || (failureClass !== 'rate_limited' && failureClass !== 'overloaded')) return;
    const until = Date.now() + retryAfterMs;
    if (until > (cooldown?.until ?? 0)) cooldown = { until, error };
  };

  return (model) => ({
    async respond(request, call) {
      const release = await slots.acquire(call.signal);
      try {
        await waitForCooldown(call.signal);
        return await model.respond(request, call);
      } catch (error) {
        noteFailure(error);
        throw error;
      } finally {
        release();
      }
    },
  });
}

function createSlots(size: number) {
  let free = size;
  const queue: (() => void)[] = [];
  const release = () => {
    const next = queue.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    /** Resolves to the function that gives the slot back; rejects with the signal's reason. */
    async acquire(signal: AbortSignal): Promise<() => void> {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return release;
      }
      const granted = await new Promise<boolean>((resolve) => {
        const onTurn = () => {
          signal.removeEventListener('abort', onAbort);
          resolve(true);
        };
        const onAbort = () => {
          queue.splice(queue.indexOf(onTurn), 1);
          resolve(false);
        };
        queue.push(onTurn);
        signal.addEventListener('abort', onAbort, { once: true });
      });
      if (!granted) signal.throwIfAborted();
      return release;
    },
  };
}
