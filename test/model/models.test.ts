import type { ModelChoice } from '../../src/contract/run-input';
import { createModels } from '../../src/model/models';
import { startMessagesServer } from '../support/messages-server';
import { callOptions, modelRequest } from '../support/model-request';
import { failureOf, thrownFailure } from '../support/port-failure';

const choose = (parts: Partial<ModelChoice> = {}): ModelChoice => ({
  provider: 'anthropic',
  model: 'claude-sonnet-5-5',
  endpoint: 'default',
  ...parts,
});
const create = (endpoints: Parameters<typeof createModels>[0]['endpoints']) =>
  createModels({ endpoints, idleMs: 3000, timeoutMs: 3000, maxConcurrentPerEndpoint: 4, onWarning: () => undefined });

test('a scripted choice → plays the script, whatever the endpoints are', async () => {
  const model = create({})(choose({ provider: 'scripted' }));
  const request = modelRequest({ script: 'turns: [{ text: hi }]' });
  expect((await model.respond(request, callOptions())).content).toEqual([{ type: 'text', text: 'hi' }]);
});

test('a known endpoint → its address is called with its key; a 429 there cools it down for every run', async () => {
  const server = await startMessagesServer([{ status: 429, headers: { 'retry-after': '600' } }]);
  try {
    const models = create({ default: { baseUrl: server.url, apiKey: 'sk-one' } });
    expect((await failureOf(models(choose()).respond(modelRequest(), callOptions()))).class).toBe('rate_limited');
    expect((await failureOf(models(choose()).respond(modelRequest(), callOptions()))).class).toBe('rate_limited');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-one']);
  } finally {
    await server.close();
  }
});

test.each([
  ['an unknown endpoint', {}, 'no endpoint named "default"'],
  [
    'an endpoint without a key',
    { default: { baseUrl: 'http://127.0.0.1:9' } },
    'no API key for the endpoint "default"',
  ],
  ['a blank key', { default: { baseUrl: 'http://127.0.0.1:9', apiKey: ' ' } }, 'no API key for the endpoint "default"'],
])('%s → unauthenticated that says how to set a key', async (_, endpoints, lack) => {
  expect(await thrownFailure(() => create(endpoints)(choose()))).toEqual({
    class: 'unauthenticated',
    retryable: false,
    detail: `This worker has ${lack}. Set ANTHROPIC_API_KEY in the worker's environment and start it again, or use a scripted model: --model scripted:FILE.`,
  });
});

test('an endpoint named like a property of every object → unknown', async () => {
  const failure = await thrownFailure(() => create({})(choose({ endpoint: 'constructor' })));
  expect(failure.class).toBe('unauthenticated');
});
