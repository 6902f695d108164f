import { PortError } from '../contract/port-error';
import { abortableSleep } from './abortable-sleep';
import type { Model } from './port';

/** Longer cool-downs are not waited out here: the call fails with the rest of the wait, and its retry comes after it. */
const MAX_COOLDOWN_WAIT_MS = 15_000;

/** One absurd wish must not silence an endpoint for all conversations: after this a call finds out anew. */
const MAX_COOLDOWN_MS = 3_600_000;
/** An endpoint that does not say how long to wait gets a second, and twice as much each time it goes on refusing. */
const DEFAULT_COOLDOWN_MS = 1_000;
const MAX_DEFAULT_COOLDOWN_MS = 30_000;

export interface EndpointLimiterOptions {
  readonly maxConcurrent: number;
  /** First pause after a refusal without a time to wait. Default 1 s. */
  readonly coolDownMs?: number;
}

/**
 * One per endpoint, shared by all conversations of the worker. The models it wraps run at most `maxConcurrent` calls at
 * once, first come first served; when the endpoint answers that it is limited or overloaded, no call starts before the
 * time it asks for (or a short one of ours) is over. Waiting ends with the signal's reason, or with the same failure if
 * the wait is long.
 */
export function createEndpointLimiter(options: EndpointLimiterOptions): (model: Model) => Model {
  const slots = createSlots(options.maxConcurrent);
  let cooldown: { readonly until: number; readonly setAt: number; readonly error: PortError } | undefined;
  let refusals = 0;

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

  const noteFailure = (error: unknown, startedAt: number) => {
    if (!(error instanceof PortError)) return;
    const { class: failureClass, retryAfterMs } = error.failure;
    if (failureClass !== 'rate_limited' && failureClass !== 'overloaded') return;
    const now = Date.now();
    // Calls that were under way together are refused together: that is one refusal.
    if (startedAt >= (cooldown?.setAt ?? 0)) refusals += 1;
    const ownMs = Math.min(
      (options.coolDownMs ?? DEFAULT_COOLDOWN_MS) * 2 ** Math.max(0, refusals - 1),
      MAX_DEFAULT_COOLDOWN_MS,
    );
    const until = now + Math.min(retryAfterMs ?? ownMs, MAX_COOLDOWN_MS);
    if (until > (cooldown?.until ?? 0)) cooldown = { until, setAt: now, error };
  };

  return (model) => ({
    async respond(request, call) {
      const release = await slots.acquire(call.signal);
      try {
        await waitForCooldown(call.signal);
        const startedAt = Date.now();
        const response = await model.respond(request, call).catch((error: unknown) => {
          noteFailure(error, startedAt);
          throw error;
        });
        refusals = 0;
        return response;
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
