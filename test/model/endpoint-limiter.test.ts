import { PortError } from '../../src/contract/port-error';
import { createEndpointLimiter } from '../../src/model/endpoint-limiter';
import type { Model, ModelResponse } from '../../src/model/port';
import { callOptions, modelRequest } from '../support/model-request';
import { failureOf } from '../support/port-failure';

const OK: ModelResponse = {
  content: [],
  stopReason: 'end_turn',
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  model: 'm',
};

/** A model whose calls end when the test says so. */
function heldModel() {
  const waiting: { readonly turn: number; finish(error?: Error): void }[] = [];
  const model: Model = {
    respond: ({ turn }) =>
      new Promise((resolve, reject) => {
        waiting.push({ turn, finish: (error) => (error === undefined ? resolve(OK) : reject(error)) });
      }),
  };
  return { model, waiting };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
const busy = (failureClass: 'rate_limited' | 'overloaded' | 'server_error', retryAfterMs?: number) =>
  new PortError({
    class: failureClass,
    retryable: true,
    detail: 'busy',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
const failing = (error: unknown): Model => ({ respond: () => Promise.reject(error) });
const fine: Model = { respond: () => Promise.resolve(OK) };

test('more calls than slots → the others start in order as slots come free, over all models it wraps', async () => {
  const limit = createEndpointLimiter({ maxConcurrent: 2 });
  const { model, waiting } = heldModel();
  const [a, b] = [limit(model), limit(model)];
  const calls = [1, 2, 3, 4].map((turn) => (turn % 2 ? a : b).respond(modelRequest({ turn }), callOptions()));
  const settling = Promise.allSettled(calls);
  await tick();
  expect(waiting.map(({ turn }) => turn)).toEqual([1, 2]);
  waiting[1]!.finish();
  await tick();
  expect(waiting.map(({ turn }) => turn)).toEqual([1, 2, 3]);
  waiting[0]!.finish(new Error('a failed call gives its slot back too'));
  await tick();
  expect(waiting.map(({ turn }) => turn)).toEqual([1, 2, 3, 4]);
  for (const { finish } of waiting) finish();
  const settled = await settling;
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
});

test('calls one after the other with one slot → each gets it', async () => {
  const limited = createEndpointLimiter({ maxConcurrent: 1 })(fine);
  for (let turn = 1; turn <= 3; turn += 1) {
    expect(await limited.respond(modelRequest({ turn }), callOptions(AbortSignal.timeout(2000)))).toBe(OK);
  }
});

test('an abort while waiting for a slot → its reason, and the slot goes to the next', async () => {
  const limit = createEndpointLimiter({ maxConcurrent: 1 });
  const { model, waiting } = heldModel();
  const controller = new AbortController();
  const limited = limit(model);
  const first = limited.respond(modelRequest({ turn: 1 }), callOptions());
  const second = limited.respond(modelRequest({ turn: 2 }), callOptions(controller.signal));
  const third = limited.respond(modelRequest({ turn: 3 }), callOptions());
  controller.abort('no longer wanted');
  await expect(second).rejects.toBe('no longer wanted');
  waiting[0]!.finish();
  await first;
  await tick();
  expect(waiting.map(({ turn }) => turn)).toEqual([1, 3]);
  waiting[1]!.finish();
  await third;
});

test.each(['rate_limited', 'overloaded'] as const)(
  '%s with a time to wait → the next call of the endpoint waits that long',
  async (failureClass) => {
    const limit = createEndpointLimiter({ maxConcurrent: 4 });
    const startedAt = Date.now();
    await failureOf(limit(failing(busy(failureClass, 150))).respond(modelRequest(), callOptions()));
    await limit(fine).respond(modelRequest(), callOptions());
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(145);
  },
);

test('refusals without a time to wait → each pause is twice as long; calls refused together count once; an answer resets', async () => {
  const limit = createEndpointLimiter({ maxConcurrent: 4, coolDownMs: 60 });
  const refuse = () => failureOf(limit(failing(busy('overloaded'))).respond(modelRequest(), callOptions()));
  const waited = async () => {
    const startedAt = Date.now();
    await limit(fine).respond(modelRequest(), callOptions());
    return Date.now() - startedAt;
  };
  await Promise.all([refuse(), refuse(), refuse()]);
  await refuse();
  expect(await waited()).toBeGreaterThanOrEqual(115);
  await refuse();
  const again = await waited();
  expect(again).toBeGreaterThanOrEqual(55);
  expect(again).toBeLessThan(115);
});

test.each([
  ['a server error with a time', busy('server_error', 5000)],
  ['a bug', new Error('bug')],
])('%s → no cool-down', async (_, error) => {
  const limit = createEndpointLimiter({ maxConcurrent: 4 });
  await expect(limit(failing(error)).respond(modelRequest(), callOptions())).rejects.toBe(error);
  const startedAt = Date.now();
  await limit(fine).respond(modelRequest(), callOptions());
  expect(Date.now() - startedAt).toBeLessThan(100);
});

test('a long time to wait → other calls fail at once with what is left of it, without asking the endpoint', async () => {
  const limit = createEndpointLimiter({ maxConcurrent: 4 });
  await failureOf(limit(failing(busy('rate_limited', 600_000))).respond(modelRequest(), callOptions()));
  const { model, waiting } = heldModel();
  const failure = await failureOf(limit(model).respond(modelRequest(), callOptions()));
  expect(failure).toMatchObject({ class: 'rate_limited', retryable: true, detail: 'busy' });
  expect(failure.retryAfterMs).toBeGreaterThan(595_000);
  expect(failure.retryAfterMs).toBeLessThanOrEqual(600_000);
  expect(waiting).toEqual([]);
});

test('an abort during the cool-down → the reason of the signal', async () => {
  const limit = createEndpointLimiter({ maxConcurrent: 4 });
  await failureOf(limit(failing(busy('rate_limited', 10_000))).respond(modelRequest(), callOptions()));
  const controller = new AbortController();
  const reason = new Error('shutdown');
  const call = limit(fine).respond(modelRequest(), callOptions(controller.signal));
  setTimeout(() => {
    controller.abort(reason);
  }, 20);
  await expect(call).rejects.toBe(reason);
});

test('two limiters → one endpoint does not cool the other down', async () => {
  const [one, other] = [createEndpointLimiter({ maxConcurrent: 1 }), createEndpointLimiter({ maxConcurrent: 1 })];
  await failureOf(one(failing(busy('rate_limited', 600_000))).respond(modelRequest(), callOptions()));
  expect(await other(fine).respond(modelRequest(), callOptions())).toBe(OK);
});
