import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { STANDARD_PROFILE } from '../../../src/contract/endpoint-profile';
import { createAnthropicModel } from '../../../src/model/anthropic/anthropic-model';
import type { AnthropicOptions } from '../../../src/model/anthropic/anthropic-model';
import { startMessagesServer } from '../../support/messages-server';
import type { MessagesPlan, MessagesServer, PlannedFault } from '../../support/messages-server';
import type { ModelProgress } from '../../../src/model/port';
import { CERTIFICATE, KEY as CERTIFICATE_KEY } from '../../support/tls-files';
import { callOptions, modelRequest } from '../../support/model-request';
import { failureOf, thrownFailure } from '../../support/port-failure';

const KEY = 'sk-secret-of-the-test';
let server: MessagesServer | undefined;
const warnings: string[] = [];

async function start(plan: MessagesPlan, parts: Partial<AnthropicOptions> = {}) {
  server = await startMessagesServer(plan);
  const options = { apiKey: KEY, baseUrl: server.url, idleMs: 3000, timeoutMs: 3000, ...parts };
  const model = createAnthropicModel({ ...options, onWarning: (text) => warnings.push(text) });
  return { server, model, host: new URL(server.url).host };
}

afterEach(async () => {
  await server?.close();
  server = undefined;
  warnings.length = 0;
});

const TEXT = { type: 'text', text: 'Grüße 🔥 — so weit, so gut.' };
const answerWith = (fault?: PlannedFault) => ({ content: [TEXT], ...(fault === undefined ? {} : { fault }) });

describe('what is sent', () => {
  test('one call → one POST with a bearer token, the body that was built, and nothing else of ours', async () => {
    const { server: endpoint, model } = await start([{ content: [TEXT] }]);
    await model.respond(modelRequest(), callOptions());
    expect(endpoint.requests).toHaveLength(1);
    const [request] = endpoint.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/v1/messages' });
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(request?.headers['x-api-key']).toBeUndefined();
    expect(request?.body).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 1024,
      system: [{ type: 'text', text: 'You are a test.', cache_control: { type: 'ephemeral' } }],
      tools: [
        {
          name: 'read_file',
          description: 'Reads a file.',
          input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
          cache_control: { type: 'ephemeral' },
        },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Do it.', cache_control: { type: 'ephemeral' } }] }],
      stream: true,
    });
  });

  test('a profile with x-api-key → the key in that header and no bearer token', async () => {
    const { server: endpoint, model } = await start([{ content: [TEXT] }], {
      profile: { ...STANDARD_PROFILE, auth: 'x-api-key' },
    });
    await model.respond(modelRequest(), callOptions());
    expect(endpoint.requests[0]?.headers['x-api-key']).toBe(KEY);
    expect(endpoint.requests[0]?.headers.authorization).toBeUndefined();
  });

  test.each([429, 500, 529])('HTTP %i → still one request: retries are not made here', async (status) => {
    const { server: endpoint, model } = await start(() => ({ status, headers: { 'x-should-retry': 'true' } }));
    await failureOf(model.respond(modelRequest(), callOptions()));
    expect(endpoint.requests).toHaveLength(1);
  });

  test('a redirect → not followed, and the failure says what to do', async () => {
    const { server: endpoint, model } = await start(() => ({ status: 307, headers: { location: '/v1/elsewhere' } }));
    const failure = await failureOf(model.respond(modelRequest(), callOptions()));
    expect(failure).toMatchObject({ class: 'not_found', retryable: false });
    expect(failure.detail).toContain('set ANTHROPIC_BASE_URL to the final address');
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe('what comes back', () => {
  test.each([3, 7, 1000])('a body in pieces of %i bytes → the same message', async (chunkBytes) => {
    const input = { path: 'süß/🔥.txt', list: [1, null, 'ä'] };
    const thinking = { type: 'thinking', thinking: '  t1 🔥 ', signature: 'S1==' };
    const { model } = await start([
      { content: [thinking, TEXT, { type: 'tool_use', id: 't', name: 'a', input }], chunkBytes, deltaChars: 3 },
    ]);
    const options = callOptions();
    const response = await model.respond(modelRequest(), options);
    expect(response.content).toEqual([thinking, TEXT, { type: 'tool_use', id: 't', name: 'a', input }]);
    expect(options.texts.join('')).toBe(TEXT.text);
  });

  test('the four counters, the model that answered, the reason of a refusal', async () => {
    const { model } = await start([
      {
        content: [],
        stopReason: 'refusal',
        stopDetails: { type: 'refusal', category: 'other', explanation: 'not this' },
        usage: { input_tokens: 3, output_tokens: 5, cache_read_input_tokens: 12000, cache_creation_input_tokens: null },
      },
    ]);
    expect(await model.respond(modelRequest(), callOptions())).toEqual({
      content: [],
      stopReason: 'refusal',
      stopDetail: 'not this',
      usage: { input: 3, output: 5, cacheRead: 12000, cacheWrite: 0 },
      model: 'claude-of-the-test',
    });
  });

  test('usage in the other style → cached tokens counted once', async () => {
    const usage = {
      input_tokens: undefined,
      output_tokens: undefined,
      prompt_tokens: 74302,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 71552 },
    };
    const { model } = await start([{ content: [TEXT], usage }]);
    const response = await model.respond(modelRequest(), callOptions());
    expect(response.usage).toEqual({ input: 2750, output: 10, cacheRead: 71552, cacheWrite: 0 });
  });

  test.each(['{"path":"a.ts","content":"x', '{"path":"a.ts","content":"line 1\\nline"', '{]'])(
    'a tool input that was cut off: %s → kept as the text it is, never completed',
    async (inputText) => {
      const { model } = await start([{ content: [{ type: 'tool_use', id: 't', name: 'write_file', inputText }] }]);
      const { content } = await model.respond(modelRequest(), callOptions());
      expect(content).toEqual([{ type: 'tool_use', id: 't', name: 'write_file', input: inputText }]);
    },
  );

  test('a stop reason of null → said to be missing', async () => {
    const { model } = await start([{ content: [TEXT], stopReason: null }]);
    expect((await model.respond(modelRequest(), callOptions())).stopReason).toBe('missing');
  });
});

describe('an answer that goes wrong after it began', () => {
  test.each<[PlannedFault['kind'], string, string]>([
    ['cut', 'connection', ' broke off in the middle of its answer.'],
    ['end', 'connection', ' ended its answer before it was complete.'],
    ['error', 'overloaded', ' is overloaded. It said: Overloaded'],
    ['error-as-message', 'overloaded', ' is overloaded. It said: Overloaded'],
    ['garbage', 'server_error', ' sent something that is no answer of the Messages API (SyntaxError).'],
  ])('%s in mid-stream → %s, retryable', async (kind, failureClass, sentence) => {
    for (const afterEvents of [0, 4]) {
      const { model, host } = await start([answerWith({ afterEvents, kind })]);
      const failure = await failureOf(model.respond(modelRequest(), callOptions()));
      expect(failure).toEqual({ class: failureClass, retryable: true, detail: `${host}${sentence}` });
      await server?.close();
    }
    server = undefined;
  });

  test.each(['silence', 'pings'] as const)('%s for longer than the idle limit → stalled, retryable', async (kind) => {
    const { model, host } = await start([answerWith({ afterEvents: 4, kind })], { idleMs: 200 });
    const failure = await failureOf(model.respond(modelRequest(), callOptions()));
    expect(failure).toEqual({
      class: 'stalled',
      retryable: true,
      detail: `${host} went silent for 0.2 s in its answer.`,
    });
  });

  test('slow events, each within the idle limit → the answer', async () => {
    const { model } = await start([{ content: [TEXT], eventDelayMs: 60 }], { idleMs: 250 });
    expect((await model.respond(modelRequest(), callOptions())).content).toEqual([TEXT]);
  });

  test('abort in mid-stream → the reason of the signal, within 500 ms', async () => {
    const { model } = await start([answerWith({ afterEvents: 4, kind: 'silence' })]);
    const controller = new AbortController();
    const reason = new Error('cancel requested');
    const work = model.respond(modelRequest(), {
      signal: controller.signal,
      onProgress: () => {
        controller.abort(reason);
      },
    });
    const startedAt = Date.now();
    await expect(work).rejects.toBe(reason);
    expect(Date.now() - startedAt).toBeLessThan(500);
  });
});

describe('no answer', () => {
  test('headers not in time → connection, retryable, with the time', async () => {
    const { model, host } = await start([{ content: [TEXT], headerDelayMs: 5000 }], { timeoutMs: 1000 });
    expect(await failureOf(model.respond(modelRequest(), callOptions()))).toEqual({
      class: 'connection',
      retryable: true,
      detail: `${host} did not begin to answer within 1 s.`,
    });
  });

  test('nobody listens → connection, retryable, with the code', async () => {
    const port = await freePort();
    const options = { apiKey: KEY, baseUrl: `http://127.0.0.1:${port}`, idleMs: 3000, timeoutMs: 3000 };
    expect(await failureOf(createAnthropicModel(options).respond(modelRequest(), callOptions()))).toEqual({
      class: 'connection',
      retryable: true,
      detail: `127.0.0.1:${port} could not be reached (ECONNREFUSED).`,
    });
  });

  test('https to a server that speaks http → connection, not retryable', async () => {
    const { server: endpoint } = await start([]);
    const baseUrl = endpoint.url.replace('http:', 'https:');
    const model = createAnthropicModel({ apiKey: KEY, baseUrl, idleMs: 3000, timeoutMs: 3000 });
    const failure = await failureOf(model.respond(modelRequest(), callOptions()));
    expect(failure).toMatchObject({ class: 'connection', retryable: false });
    expect(failure.detail).toContain('does not speak TLS as expected');
  });

  test('a certificate that nobody vouches for → connection, not retryable, with what to do', async () => {
    const endpoint = createHttpsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY });
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
    try {
      const host = `127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
      const model = createAnthropicModel({ apiKey: KEY, baseUrl: `https://${host}`, idleMs: 3000, timeoutMs: 3000 });
      expect(await failureOf(model.respond(modelRequest(), callOptions()))).toEqual({
        class: 'connection',
        retryable: false,
        detail: `The certificate of ${host} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): set NODE_EXTRA_CA_CERTS for the worker.`,
      });
    } finally {
      await new Promise((resolve) => endpoint.close(resolve));
    }
  });

  test('an answer that broke off → what was counted until then was told', async () => {
    const { model } = await start([answerWith({ afterEvents: 4, kind: 'cut' })]);
    const told: unknown[] = [];
    const onProgress = ({ spent }: ModelProgress) => {
      if (spent !== undefined) told.push(spent);
    };
    const call = { ...callOptions(), onProgress };
    await failureOf(model.respond(modelRequest(), call));
    expect(told).toEqual([
      { model: 'claude-of-the-test', usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 } },
    ]);
  });

  test.each(['not a url', 'ftp://127.0.0.1', 'https://me:secret@127.0.0.1'])(
    'an address like %s → refused when the model is made, without the address',
    async (baseUrl) => {
      const failure = await thrownFailure(() =>
        createAnthropicModel({ apiKey: KEY, baseUrl, idleMs: 3000, timeoutMs: 3000 }),
      );
      expect(failure).toEqual({
        class: 'invalid_request',
        retryable: false,
        detail:
          'The address of the model endpoint is no http or https URL without a user name: check ANTHROPIC_BASE_URL.',
      });
    },
  );

  test('a web page with status 200 → server_error that says what came', async () => {
    const { model, host } = await start([
      { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<!doctype html>\n<p>Log in</p>' },
    ]);
    expect(await failureOf(model.respond(modelRequest(), callOptions()))).toEqual({
      class: 'server_error',
      retryable: true,
      detail: `${host} answered with text/html instead of an event stream: check ANTHROPIC_BASE_URL.`,
    });
  });

  test('a web page with status 502 → server_error, the page not shown', async () => {
    const { model, host } = await start([
      { status: 502, headers: { 'content-type': 'text/html' }, body: '<html><h1>Bad gateway</h1></html>' },
    ]);
    expect(await failureOf(model.respond(modelRequest(), callOptions()))).toEqual({
      class: 'server_error',
      retryable: true,
      detail: `${host} failed (HTTP 502). It said: a web page instead of JSON.`,
    });
  });

  test('an endpoint that repeats the key → it is in no failure and no warning', async () => {
    const { model } = await start([
      { status: 401, body: { type: 'error', error: { type: 'authentication_error', message: `bad key ${KEY}` } } },
      answerWith({ afterEvents: 3, kind: 'error', error: { type: 'api_error', message: KEY } }),
      answerWith({ afterEvents: 3, kind: 'error-as-message', error: { type: 'api_error', message: KEY } }),
      answerWith({ afterEvents: 3, kind: 'garbage' }),
    ]);
    const details: string[] = [];
    for (let k = 0; k < 4; k += 1) details.push((await failureOf(model.respond(modelRequest(), callOptions()))).detail);
    expect(details[0]).toContain('It said: bad key [key]');
    expect(details.join() + warnings.join()).not.toContain(KEY);
  });

  test('nothing that goes wrong is written to stdout or stderr', async () => {
    const out = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const err = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const log = jest.spyOn(console, 'error').mockReturnValue(undefined);
    const { model } = await start([answerWith({ afterEvents: 3, kind: 'garbage' })]);
    await failureOf(model.respond(modelRequest(), callOptions()));
    expect([out.mock.calls, err.mock.calls, log.mock.calls]).toEqual([[], [], []]);
    expect(warnings).toContain('Anthropic SDK: Could not parse message into JSON:');
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
