import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A content block to stream. `inputText` of a `tool_use` is sent as its JSON, well-formed or not. */
export type PlannedBlock = Readonly<Record<string, unknown>> & { readonly type: string };

/** What happens instead of the rest of an answer, after its first `afterEvents` events. */
export interface PlannedFault {
  readonly afterEvents: number;
  /**
   * cut: the socket is destroyed · end: the body ends early, cleanly · silence: nothing more, socket open · pings: only
   * pings, one each 20 ms · error: an `error` event · error-event-as-message: the same without its event name ·
   * garbage: an event whose data is no JSON.
   */
  readonly kind: 'cut' | 'end' | 'silence' | 'pings' | 'error' | 'error-as-message' | 'garbage';
  readonly error?: { readonly type: string; readonly message: string };
}

export interface PlannedMessage {
  readonly content: readonly PlannedBlock[];
  readonly stopReason?: string | null;
  readonly stopDetails?: unknown;
  readonly usage?: Readonly<Record<string, unknown>>;
  /** Size of the pieces the body is written in: borders fall anywhere, also inside a character. Default 97, more for large bodies. */
  readonly chunkBytes?: number;
  /** Characters per delta. Default 16, more for long blocks. */
  readonly deltaChars?: number;
  /** Pause before each event. */
  readonly eventDelayMs?: number;
  readonly headerDelayMs?: number;
  readonly fault?: PlannedFault;
}

export interface PlannedStatus {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; a string as it is, with the content type of `headers`. */
  readonly body?: unknown;
  readonly headerDelayMs?: number;
}

/** The connection is reset before anything was answered. */
export interface PlannedReset {
  readonly reset: true;
}

export type PlannedAnswer = PlannedMessage | PlannedStatus | PlannedReset;

/** A list is played in order; a function answers by request and number of the request, from 1. */
export type MessagesPlan =
  readonly PlannedAnswer[] | ((request: RecordedRequest, number: number) => PlannedAnswer | undefined);

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: unknown;
  readonly receivedAt: number;
}

export type ServedUsage = Readonly<Record<string, unknown>>;

export interface MessagesServer {
  /** Base URL for the client: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** The counters of each answer that began, whole or not: what a customer is billed for. */
  readonly served: readonly ServedUsage[];
  close(): Promise<void>;
}

/** Starts a server on a free loopback port that speaks the streaming Messages API from a plan of answers and faults. */
export async function startMessagesServer(plan: MessagesPlan): Promise<MessagesServer> {
  const requests: RecordedRequest[] = [];
  const served: ServedUsage[] = [];
  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => response.destroy());
  });
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = await record(incoming);
    const number = requests.push(request);
    const planned = typeof plan === 'function' ? plan(request, number) : plan[number - 1];
    await send(response, planned ?? planExhausted(number), served);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    served,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function record(incoming: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const { method = '', url = '', headers } = incoming;
  return { method, path: url, headers, text, body: parseJson(text), receivedAt: Date.now() };
}

function planExhausted(number: number): PlannedStatus {
  const message = `the test's plan has no answer for request ${number}`;
  return { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } };
}

async function send(response: ServerResponse, planned: PlannedAnswer, served: ServedUsage[]): Promise<void> {
  if ('reset' in planned) {
    response.socket?.resetAndDestroy();
    return;
  }
  if (planned.headerDelayMs !== undefined) await sleep(planned.headerDelayMs, undefined, { ref: false });
  if ('status' in planned) {
    const isText = typeof planned.body === 'string';
    response.writeHead(planned.status, {
      ...(isText ? {} : { 'content-type': 'application/json' }),
      ...planned.headers,
    });
    response.end(isText ? planned.body : JSON.stringify(planned.body ?? {}));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  const { fault } = planned;
  const events = toEvents(planned);
  if (fault === undefined || fault.afterEvents > 0) served.push(usageOf(planned));
  await write(response, fault === undefined ? events : events.slice(0, fault.afterEvents), planned);
  if (fault === undefined) response.end();
  else await misbehave(response, fault);
}

async function write(response: ServerResponse, events: readonly unknown[], planned: PlannedMessage): Promise<void> {
  for (const group of planned.eventDelayMs === undefined ? [events] : events.map((event) => [event])) {
    if (planned.eventDelayMs !== undefined) await sleep(planned.eventDelayMs, undefined, { ref: false });
    const bytes = Buffer.from(group.map((event) => toSse(event)).join(''));
    const size = planned.chunkBytes ?? Math.max(97, Math.floor(bytes.length / 500));
    for (let start = 0; start < bytes.length; start += size) {
      if (response.destroyed) return;
      response.write(bytes.subarray(start, start + size));
      // Gives each piece its own turn on the wire, so that the reader really sees the border.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

async function misbehave(response: ServerResponse, fault: PlannedFault): Promise<void> {
  const error = { type: 'error', error: fault.error ?? { type: 'overloaded_error', message: 'Overloaded' } };
  switch (fault.kind) {
    case 'cut':
      response.write('event: content_block_delta\ndata: {"type":"content_blo');
      await new Promise((resolve) => setImmediate(resolve));
      response.destroy();
      return;
    case 'end':
      response.end();
      return;
    case 'silence':
      return;
    case 'pings':
      while (!response.destroyed) {
        response.write('event: ping\ndata: {"type":"ping"}\n\n');
        await sleep(20, undefined, { ref: false });
      }
      return;
    case 'error':
      response.end(toSse(error));
      return;
    case 'error-as-message':
      response.end(`event: message\ndata: ${JSON.stringify(error)}\n\n`);
      return;
    case 'garbage':
      response.end('event: content_block_delta\ndata: <html>\n\n');
      return;
  }
}

function usageOf({ usage }: PlannedMessage): ServedUsage {
  return { input_tokens: 10, output_tokens: 5, ...usage };
}

function toEvents(planned: PlannedMessage): unknown[] {
  const usage = usageOf(planned);
  const hasCalls = planned.content.some((block) => block.type === 'tool_use');
  const stopReason = planned.stopReason === undefined ? (hasCalls ? 'tool_use' : 'end_turn') : planned.stopReason;
  return [
    {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-of-the-test', content: [], usage },
    },
    { type: 'ping' },
    ...planned.content.flatMap((block, index) => toBlockEvents(block, index, planned.deltaChars)),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null, stop_details: planned.stopDetails ?? null },
      usage,
    },
    { type: 'message_stop' },
  ];
}

function toBlockEvents(block: PlannedBlock, index: number, size?: number): unknown[] {
  const { start, deltas } = splitBlock(block, size);
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function splitBlock(block: PlannedBlock, size?: number): { start: unknown; deltas: unknown[] } {
  if (block.type === 'text') {
    const deltas = split(stringOf(block['text']), size).map((text) => ({ type: 'text_delta', text }));
    return { start: { ...block, text: '' }, deltas };
  }
  if (block.type === 'thinking') {
    const thinking = split(stringOf(block['thinking']), size).map((piece) => ({
      type: 'thinking_delta',
      thinking: piece,
    }));
    const signature = { type: 'signature_delta', signature: block['signature'] };
    return { start: { ...block, thinking: '', signature: '' }, deltas: [...thinking, signature] };
  }
  if (block.type === 'tool_use') {
    const { inputText, ...rest } = block;
    const json = typeof inputText === 'string' ? inputText : JSON.stringify(block['input'] ?? {});
    const deltas = split(json, size).map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
    return { start: { ...rest, input: {} }, deltas };
  }
  return { start: block, deltas: [] };
}

/** By code points: a real endpoint never sends half a character in a delta. */
function split(text: string, deltaChars?: number): string[] {
  const characters = Array.from(text);
  const size = deltaChars ?? Math.max(16, Math.floor(characters.length / 200));
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toSse(event: unknown): string {
  const { type } = event as { type: string };
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
