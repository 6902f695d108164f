import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnthropicModel } from '../../src/model/anthropic/anthropic-model';
import type { Model } from '../../src/model/port';
import { createScriptedModel } from '../../src/model/scripted/scripted-model';
import { startMessagesServer } from '../support/messages-server';
import type { MessagesServer, PlannedAnswer, PlannedBlock } from '../support/messages-server';
import { callOptions, modelRequest, userText } from '../support/model-request';
import { failureOf } from '../support/port-failure';

/** What an endpoint does next, said once for both models. */
type Step =
  | { readonly content: readonly PlannedBlock[]; readonly stop?: string; readonly delayMs?: number }
  | { readonly status: number; readonly type: string; readonly message: string; readonly retryAfterMs?: number };

interface Subject {
  /** A model whose endpoint does these steps, one a call, and the script that its requests must carry. */
  play(steps: readonly Step[]): Promise<{ readonly model: Model; readonly script?: string }>;
}

const warnings: string[] = [];
const onWarning = (text: string) => warnings.push(text);
const servers: MessagesServer[] = [];

const subjects: Record<string, Subject> = {
  scripted: {
    play: (steps) => {
      const turns = steps.map((step) => {
        if ('status' in step) return { error: step };
        return { content: step.content, stop: step.stop, delayMs: step.delayMs };
      });
      return Promise.resolve({ model: createScriptedModel({ onWarning }), script: JSON.stringify({ turns }) });
    },
  },
  anthropic: {
    play: async (steps) => {
      const server = await startMessagesServer(steps.map(toAnswer));
      servers.push(server);
      const model = createAnthropicModel({
        apiKey: 'sk-contract',
        baseUrl: server.url,
        idleMs: 5000,
        timeoutMs: 5000,
        onWarning,
      });
      return { model };
    },
  },
};

function toAnswer(step: Step): PlannedAnswer {
  if (!('status' in step)) {
    return {
      content: step.content,
      ...(step.stop === undefined ? {} : { stopReason: step.stop }),
      ...(step.delayMs === undefined ? {} : { headerDelayMs: step.delayMs }),
    };
  }
  return {
    status: step.status,
    headers: step.retryAfterMs === undefined ? {} : { 'retry-after-ms': String(step.retryAfterMs) },
    body: { type: 'error', error: { type: step.type, message: step.message } },
  };
}

afterEach(async () => {
  warnings.length = 0;
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe.each(Object.entries(subjects))('%s model', (_, subject) => {
  const request = (script: string | undefined, parts: Parameters<typeof modelRequest>[0] = {}) =>
    modelRequest({ ...parts, ...(script === undefined ? {} : { script }) });

  test('text and two calls → the blocks in order, stop reason tool_use, the text as progress', async () => {
    const { model, script } = await subject.play([
      {
        content: [
          { type: 'text', text: 'Ich lese die Dateien. 🔥' },
          { type: 'tool_use', id: 'toolu_a', name: 'read_file', input: { path: 'a.ts' } },
          { type: 'tool_use', id: 'toolu_b', name: 'grep', input: { pattern: 'sum\\(' } },
        ],
      },
    ]);
    const options = callOptions();
    const response = await model.respond(request(script), options);
    expect(response.content).toEqual([
      { type: 'text', text: 'Ich lese die Dateien. 🔥' },
      { type: 'tool_use', id: 'toolu_a', name: 'read_file', input: { path: 'a.ts' } },
      { type: 'tool_use', id: 'toolu_b', name: 'grep', input: { pattern: 'sum\\(' } },
    ]);
    expect(response.stopReason).toBe('tool_use');
    expect(options.texts.length).toBeGreaterThan(1);
    expect(options.texts.join('')).toBe('Ich lese die Dateien. 🔥');
    expect(response.usage.input).toBeGreaterThan(0);
    expect(response.usage.output).toBeGreaterThan(0);
  });

  test('an answer without calls → stop reason end_turn', async () => {
    const { model, script } = await subject.play([{ content: [{ type: 'text', text: 'Done.' }] }]);
    expect((await model.respond(request(script), callOptions())).stopReason).toBe('end_turn');
  });

  test('an unknown stop reason → passed on as it came', async () => {
    const { model, script } = await subject.play([{ content: [{ type: 'text', text: 'Hm.' }], stop: 'new_reason' }]);
    expect((await model.respond(request(script), callOptions())).stopReason).toBe('new_reason');
  });

  test('an answer without content → empty content', async () => {
    const { model, script } = await subject.play([{ content: [] }]);
    expect((await model.respond(request(script), callOptions())).content).toEqual([]);
  });

  test('thinking and unknown blocks → verbatim, unknown ones wrapped', async () => {
    const { model, script } = await subject.play([
      {
        content: [
          { type: 'thinking', thinking: 't1  ', signature: 'S1==' },
          { type: 'redacted_thinking', data: 'R' },
          { type: 'server_note', z: 1, a: { deep: [true] } },
        ],
      },
    ]);
    const { content } = await model.respond(request(script), callOptions());
    expect(JSON.stringify(content)).toBe(
      '[{"type":"thinking","thinking":"t1  ","signature":"S1=="},{"type":"redacted_thinking","data":"R"},' +
        '{"type":"opaque","raw":{"type":"server_note","z":1,"a":{"deep":[true]}}}]',
    );
  });

  test.each([
    [401, 'authentication_error', 'unauthenticated', false],
    [403, 'permission_error', 'permission_refused', false],
    [402, 'billing_error', 'billing', false],
    [404, 'not_found_error', 'not_found', false],
    [400, 'invalid_request_error', 'invalid_request', false],
    [413, 'request_too_large', 'too_large', false],
    [429, 'rate_limit_error', 'rate_limited', true],
    [500, 'api_error', 'server_error', true],
    [529, 'overloaded_error', 'overloaded', true],
  ])('HTTP %i %s → failure %s, retryable %s', async (status, type, failureClass, retryable) => {
    const { model, script } = await subject.play([{ status, type, message: 'because', retryAfterMs: 1500 }]);
    const failure = await failureOf(model.respond(request(script), callOptions()));
    expect(failure).toMatchObject({ class: failureClass, retryable });
    expect(failure.detail).toContain('because');
    expect(failure.retryAfterMs).toBe(retryable ? 1500 : undefined);
  });

  test('a 400 that says the prompt is too long → context_window', async () => {
    const message = 'prompt is too long: 210000 tokens > 200000 maximum';
    const { model, script } = await subject.play([{ status: 400, type: 'invalid_request_error', message }]);
    expect((await failureOf(model.respond(request(script), callOptions()))).class).toBe('context_window');
  });

  test('abort while the answer is awaited → the reason of the signal, within 500 ms', async () => {
    const { model, script } = await subject.play([{ content: [{ type: 'text', text: 'late' }], delayMs: 20_000 }]);
    const controller = new AbortController();
    const reason = new Error('cancel requested');
    const work = model.respond(request(script), callOptions(controller.signal));
    const startedAt = Date.now();
    setTimeout(() => {
      controller.abort(reason);
    }, 50);
    await expect(work).rejects.toBe(reason);
    expect(Date.now() - startedAt).toBeLessThan(550);
  });

  test('a signal that was aborted before → its reason', async () => {
    const { model, script } = await subject.play([{ content: [] }]);
    await expect(model.respond(request(script), callOptions(AbortSignal.abort('gone')))).rejects.toBe('gone');
  });

  test('an answer over 256 KB → message_too_large', async () => {
    const { model, script } = await subject.play([{ content: [{ type: 'text', text: 'x'.repeat(270_000) }] }]);
    expect((await failureOf(model.respond(request(script), callOptions()))).class).toBe('message_too_large');
  });

  test('a window without a user message at its start → invalid_request, no answer is used up', async () => {
    const { model, script } = await subject.play([{ content: [{ type: 'text', text: 'first' }] }]);
    const failure = await failureOf(model.respond(request(script, { messages: [] }), callOptions()));
    expect(failure).toEqual({
      class: 'invalid_request',
      retryable: false,
      detail: 'The conversation cannot be sent: it breaks the rules of the Messages API (empty_window) beyond repair.',
    });
    expect((await model.respond(request(script), callOptions())).content).toEqual([{ type: 'text', text: 'first' }]);
  });

  test('a window that can be repaired → answered, with a warning that names the rule', async () => {
    const { model, script } = await subject.play([{ content: [{ type: 'text', text: 'ok' }] }]);
    await model.respond(request(script, { messages: [userText('a'), userText('b')] }), callOptions());
    expect(warnings).toEqual(['Turn 1: the conversation was repaired before it was sent (adjacent_users).']);
  });

  describe('dump of requests', () => {
    let home: string;
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), 'surehand-dump-'));
    });
    afterEach(() => rm(home, { recursive: true, force: true }));

    test('a directory is given → the body in a file of its own per try, for the user alone', async () => {
      const { model, script } = await subject.play([
        { status: 529, type: 'overloaded_error', message: 'busy' },
        { content: [{ type: 'text', text: 'ok' }] },
      ]);
      const dumpDirectory = join(home, 'new', 'dumps');
      await failureOf(model.respond(request(script, { dumpDirectory }), callOptions()));
      await model.respond(request(script, { dumpDirectory, tryNumber: 2 }), callOptions());
      expect(await readdir(dumpDirectory)).toEqual(['request-1-try1.json', 'request-1-try2.json']);
      const file = join(dumpDirectory, 'request-1-try1.json');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const text = await readFile(file, 'utf8');
      expect(JSON.parse(text)).toMatchObject({ model: 'claude-sonnet-5-5', max_tokens: 1024, stream: true });
      expect(text).not.toContain('sk-contract');
    });

    test('the directory cannot be made → a warning, and the call goes on', async () => {
      const { model, script } = await subject.play([{ content: [{ type: 'text', text: 'ok' }] }]);
      await writeFile(join(home, 'file'), '');
      const dumpDirectory = join(home, 'file', 'dumps');
      const response = await model.respond(request(script, { dumpDirectory }), callOptions());
      expect(response.content).toEqual([{ type: 'text', text: 'ok' }]);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain('The model request could not be written to');
    });
  });
});
