import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { checkModel } from '../../../src/cli/doctor/model-check';
import { freePort } from '../../support/free-port';
import type { MessagesServer, PlannedStatus } from '../../support/messages-server';
import { startMessagesServer } from '../../support/messages-server';

const KEY = 'sk-key-of-the-doctor';
const servers: { close(): unknown }[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const config = (baseUrl: string, apiKey: string | undefined = KEY) => ({
  model: 'claude-x',
  endpoint: 'default',
  endpoints: { default: { baseUrl, ...(apiKey === '' ? {} : { apiKey }) } },
});

async function endpoint(answer: PlannedStatus): Promise<MessagesServer> {
  const server = await startMessagesServer([answer]);
  servers.push(server);
  return server;
}

const message = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'H' }] };
const refusal = (type: string, text: string) => ({ type: 'error', error: { type, message: text } });

describe('without a call', () => {
  test('no key → warn, what still works and how to set one', async () => {
    await expect(checkModel(config('https://api.example', ''), { call: true })).resolves.toMatchObject({
      id: 'model',
      state: 'warn',
      detail: 'no key for claude-x at https://api.example: only recorded models and the demo work',
      mend: expect.stringMatching(/^Set ANTHROPIC_API_KEY/),
    });
  });

  test('a key → ok, said that it was not tried; nothing is sent', async () => {
    const server = await endpoint({ status: 200, body: message });
    await expect(checkModel(config(server.url), { call: false })).resolves.toMatchObject({
      state: 'ok',
      detail: expect.stringContaining('not tried (doctor --model'),
    });
    expect(server.requests).toEqual([]);
  });

  test('a recorded model → ok, no key needed', async () => {
    const recorded = { ...config('https://api.example', ''), model: 'scripted:demo' };
    await expect(checkModel(recorded, { call: true })).resolves.toMatchObject({
      state: 'ok',
      detail: 'scripted:demo needs no key',
    });
  });
});

describe('with --model', () => {
  test('an endpoint that answers → ok; one request for one token, with the key as the worker sends it', async () => {
    const server = await endpoint({ status: 200, body: message });
    await expect(checkModel(config(`${server.url}/`), { call: true })).resolves.toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/^claude-x answered in \d+ ms at /),
      mend: null,
    });
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        path: '/v1/messages',
        headers: { authorization: `Bearer ${KEY}`, 'anthropic-version': '2023-06-01' },
        body: { model: 'claude-x', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] },
      },
    ]);
  });

  const html = { headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' };
  test.each<[string, PlannedStatus, string, RegExp, RegExp]>([
    [
      '401',
      { status: 401, body: refusal('authentication_error', 'bad key') },
      'fail',
      /^the key is refused: .* answered 401: bad key$/,
      /ANTHROPIC_API_KEY/,
    ],
    [
      '403',
      { status: 403, body: refusal('permission_error', 'not you') },
      'fail',
      /^the key may not use claude-x: .* 403: not you$/,
      /SUREHAND_MODEL/,
    ],
    [
      '404',
      { status: 404, body: refusal('not_found_error', 'model: claude-x') },
      'fail',
      /^the model or the address is not known/,
      /SUREHAND_MODEL \("claude-x"\)/,
    ],
    ['404 of another program', { status: 404, ...html }, 'fail', /answered 404$/, /ANTHROPIC_BASE_URL/],
    [
      '400',
      { status: 400, body: refusal('invalid_request_error', 'no credit') },
      'fail',
      /^the request is refused: .* 400: no credit$/,
      /what the answer names/,
    ],
    [
      '429',
      { status: 429, body: refusal('rate_limit_error', 'slow down') },
      'warn',
      /^the key works, but its rate limit is used up/,
      /by themselves/,
    ],
    [
      '500',
      { status: 500, body: refusal('api_error', 'oops') },
      'warn',
      /^the endpoint is in trouble: .* 500: oops$/,
      /try later/,
    ],
    [
      '529',
      { status: 529, body: refusal('overloaded_error', 'Overloaded') },
      'warn',
      /^the endpoint is in trouble: .* 529: Overloaded$/,
      /try later/,
    ],
    [
      'a page with status 200',
      { status: 200, ...html },
      'fail',
      /does not speak the Messages API \(status 200\)$/,
      /ANTHROPIC_BASE_URL/,
    ],
    [
      'a redirect',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      'fail',
      /does not speak the Messages API \(status 302\)$/,
      /ANTHROPIC_BASE_URL/,
    ],
  ])('%s', async (_, answer, state, detail, mend) => {
    const server = await endpoint(answer);
    const found = await checkModel(config(server.url), { call: true });
    expect(found).toMatchObject({
      state,
      detail: expect.stringMatching(detail),
      mend: expect.stringMatching(mend),
    });
  });

  test('an endpoint that quotes the key → the key is not shown', async () => {
    const server = await endpoint({ status: 401, body: refusal('authentication_error', `invalid: ${KEY}`) });
    const { detail } = await checkModel(config(server.url), { call: true });
    expect(detail).toContain('invalid: [key]');
    expect(detail).not.toContain(KEY);
  });

  test('nobody listens, no such name, no answer → fail, which of them', async () => {
    const silent = createServer();
    servers.push(silent);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const url = (port: number) => `http://127.0.0.1:${port}`;
    const detailOf = async (baseUrl: string) =>
      checkModel(config(baseUrl), { call: true, timeoutMs: 300 }).then(({ state, detail }) => [state, detail]);
    await expect(detailOf(url(await freePort()))).resolves.toEqual([
      'fail',
      expect.stringMatching(/ cannot be reached: nothing listens there$/),
    ]);
    await expect(detailOf('http://model.invalid')).resolves.toEqual([
      'fail',
      expect.stringMatching(/the name cannot be resolved|did not answer within/),
    ]);
    await expect(detailOf(url((silent.address() as AddressInfo).port))).resolves.toEqual([
      'fail',
      expect.stringMatching(/ did not answer within 0\.3 s$/),
    ]);
  });
});
