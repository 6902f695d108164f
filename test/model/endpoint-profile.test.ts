import { STANDARD_PROFILE, type EndpointProfile } from '../../src/contract/endpoint-profile';
import type { Message } from '../../src/contract/message';
import { createAnthropicModel } from '../../src/model/anthropic/anthropic-model';
import { normalizeResponse } from '../../src/model/normalize-response';
import { startMessagesServer, type MessagesPlan, type MessagesServer } from '../support/messages-server';
import { callOptions, modelRequest, userText } from '../support/model-request';
import { failureOf } from '../support/port-failure';

const KEY = 'sk-of-the-test';
const OK = { content: [{ type: 'text', text: 'ok' }] };
let server: MessagesServer;
const warnings: string[] = [];

async function start(plan: MessagesPlan, profile: Partial<EndpointProfile> = {}) {
  server = await startMessagesServer(plan);
  return createAnthropicModel({
    ...{ apiKey: KEY, baseUrl: server.url, idleMs: 5_000, timeoutMs: 5_000 },
    profile: { ...STANDARD_PROFILE, ...profile },
    onWarning: (text) => warnings.push(text),
  });
}

const bodyOf = (index: number) => server.requests[index]?.body as Readonly<Record<string, unknown>>;

afterEach(async () => {
  await server.close();
  warnings.length = 0;
});

const THINKING: Message[] = [
  userText('Go.'),
  {
    role: 'assistant',
    id: 'aaaaaaaaaaaa',
    content: [
      { type: 'thinking', thinking: ' t1 ', signature: 'S1==' },
      { type: 'tool_use', id: 't1', name: 'read_file', input: { path: 'a' } },
      { type: 'redacted_thinking', data: 'R==' },
      { type: 'tool_use', id: 't2', name: 'read_file', input: { path: 'b' } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 't1', content: 'a' },
      { type: 'tool_result', tool_use_id: 't2', content: 'b' },
    ],
  },
];

test('an endpoint that knows no cache marks → none in the request', async () => {
  const model = await start([OK], { caching: false });
  await model.respond(modelRequest({ messages: THINKING }), callOptions());
  expect(server.requests[0]?.text).not.toContain('cache_control');
  expect(Object.keys(bodyOf(0))).toEqual(['model', 'max_tokens', 'system', 'tools', 'messages', 'stream']);
});

test('an endpoint that wants all properties required → optional ones may be null', async () => {
  const model = await start([OK], { requireAll: true });
  const properties = { path: { type: 'string' }, limit: { type: 'integer', minimum: 1 } };
  const tools = [
    { name: 'a', description: 'b', inputSchema: { type: 'object', properties, required: ['path'] } },
    { name: 'c', description: 'd', inputSchema: { type: 'object' } },
  ];
  await model.respond(modelRequest({ tools }), callOptions());
  const sent = bodyOf(0)['tools'] as readonly { readonly input_schema: unknown }[];
  expect(sent.map(({ input_schema: schema }) => schema)).toEqual([
    {
      type: 'object',
      properties: { path: { type: 'string' }, limit: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] } },
      required: ['path', 'limit'],
    },
    { type: 'object', properties: {}, required: [] },
  ]);
});

test('the standard → thinking goes back byte for byte and in its place', async () => {
  const model = await start([OK]);
  await model.respond(modelRequest({ messages: THINKING }), callOptions());
  expect(server.requests[0]?.text).toContain(
    '"content":[{"type":"thinking","thinking":" t1 ","signature":"S1=="},{"type":"tool_use","id":"t1","name":"read_file","input":{"path":"a"}},{"type":"redacted_thinking","data":"R=="},{"type":"tool_use","id":"t2","name":"read_file","input":{"path":"b"}}]',
  );
});

test('an endpoint that takes no thinking back → left out, an answer of nothing else as a whole', async () => {
  const model = await start([OK], { thinking: 'drop' });
  const messages: Message[] = [
    userText('Go.'),
    { role: 'assistant', id: 'm', content: [{ type: 'thinking', thinking: 't', signature: 'S' }] },
    ...THINKING.slice(0),
  ];
  await model.respond(modelRequest({ messages }), callOptions());
  expect(server.requests[0]?.text).not.toContain('thinking');
  expect(bodyOf(0)['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: [{ id: 't1' }, { id: 't2' }] },
    { role: 'user', content: [{ tool_use_id: 't1' }, { tool_use_id: 't2' }] },
  ]);
});

const REFUSED = {
  status: 400,
  body: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'messages.1: `thinking` blocks cannot be modified' },
  },
};

test('thinking is refused → asked once more without it, with a warning', async () => {
  const model = await start([REFUSED, OK]);
  const { content } = await model.respond(modelRequest({ messages: THINKING }), callOptions());
  expect(content).toEqual([{ type: 'text', text: 'ok' }]);
  expect(server.requests).toHaveLength(2);
  expect(server.requests[1]?.text).not.toContain('thinking');
  expect(warnings).toEqual(['Turn 1: the endpoint refused its own thinking blocks, so they are left out.']);
});

test('thinking is refused and the request without it too → a clear failure, no third request', async () => {
  const model = await start([REFUSED, REFUSED, OK]);
  const failure = await failureOf(model.respond(modelRequest({ messages: THINKING }), callOptions()));
  expect(failure).toMatchObject({ class: 'invalid_request', retryable: false });
  expect(failure.detail).toContain('`thinking` blocks cannot be modified');
  expect(server.requests).toHaveLength(2);
});

test('a refusal about thinking of a conversation that has none → not asked again', async () => {
  const model = await start([REFUSED, OK]);
  await failureOf(model.respond(modelRequest(), callOptions()));
  expect(server.requests).toHaveLength(1);
});

test('fields that an endpoint wants back → kept with their block and sent again, others are not', async () => {
  const call = { type: 'tool_use', id: 't1', name: 'read_file', input: { path: 'a' }, thought: { s: 'T==' }, other: 1 };
  const model = await start([{ content: [{ type: 'text', text: 'Hm.', reasoning_content: 'because' }, call] }, OK], {
    echoFields: ['reasoning_content', 'thought'],
  });
  const first = await model.respond(modelRequest(), callOptions());
  const content = normalizeResponse(first.content, 'mmmmmmmmmmmm', new Set());
  const answered: Message = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }] };
  const messages: Message[] = [userText('Do it.'), { role: 'assistant', id: 'mmmmmmmmmmmm', content }, answered];
  await model.respond(modelRequest({ messages }), callOptions());
  expect(JSON.stringify((bodyOf(1)['messages'] as unknown[])[1])).toBe(
    '{"role":"assistant","content":[{"type":"text","text":"Hm.","reasoning_content":"because"},{"type":"tool_use","id":"t1","name":"read_file","input":{"path":"a"},"thought":{"s":"T=="}}]}',
  );
});

test('no call asks for anything but messages: tokens are never counted by a request', async () => {
  const model = await start([OK]);
  await model.respond(modelRequest({ messages: THINKING }), callOptions());
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/messages']);
});

test('headers that a variable of the environment names → not sent, and the key is ours', async () => {
  process.env['ANTHROPIC_CUSTOM_HEADERS'] = 'X-Stray: yes\nAuthorization: Bearer other\nx-api-key: other';
  try {
    const model = await start([OK]);
    await model.respond(modelRequest(), callOptions());
  } finally {
    delete process.env['ANTHROPIC_CUSTOM_HEADERS'];
  }
  const headers = server.requests[0]?.headers ?? {};
  expect(headers.authorization).toBe(`Bearer ${KEY}`);
  expect(headers['x-api-key']).toBeUndefined();
  expect(headers['x-stray']).toBeUndefined();
  expect(headers['anthropic-version']).toBe('2026-10-21');
});

test('consecutive turns → each request begins with the bytes of the one before, and the endpoint’s cache is read', async () => {
  const prefixes: string[] = [];
  const model = await start(({ text }, number) => {
    // As the service does: what the marks of the call before closed is read, the rest is written.
    const bytes = text.replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const end = bytes.lastIndexOf(']}],"stream"');
    const before = prefixes.at(-1) ?? '';
    const isRead = before !== '' && bytes.startsWith(before);
    prefixes.push(bytes.slice(0, end));
    const cached = isRead ? before.length : 0;
    const call = { type: 'tool_use', id: `toolu_${String(number)}`, name: 'read_file', input: { path: 'ä' } };
    return {
      content: [{ type: 'thinking', thinking: 't', signature: 'S' }, call],
      usage: { input_tokens: 3, cache_read_input_tokens: cached, cache_creation_input_tokens: end - cached },
    };
  });
  const messages: Message[] = [userText('Go.')];
  const reads: number[] = [];
  for (let turn = 1; turn <= 4; turn += 1) {
    const { content, usage } = await model.respond(modelRequest({ messages: [...messages], turn }), callOptions());
    reads.push(usage.cacheRead);
    messages.push({ role: 'assistant', id: `m${String(turn)}`, content });
    messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `toolu_${String(turn)}`, content: `result ${String(turn)}` }],
    });
  }
  expect(reads[0]).toBe(0);
  expect(reads.slice(1)).toEqual(prefixes.slice(0, 3).map(({ length }) => length));
  for (const { text } of server.requests) {
    const marks = text.split('"cache_control"').length - 1;
    expect(marks).toBeGreaterThanOrEqual(3);
    expect(marks).toBeLessThanOrEqual(4);
  }
});
