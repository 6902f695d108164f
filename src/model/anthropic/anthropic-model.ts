import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import { STANDARD_PROFILE, type EndpointProfile } from '../../contract/endpoint-profile';
import type { PortFailure } from '../../contract/failure';
import type { Message } from '../../contract/message';
import { PortError } from '../../contract/port-error';
import { answerTooLarge, checkAnswerSize, MAX_ANSWER_BYTES } from '../answer-size';
import { isThinkingRefused, toEndpointFailure } from '../endpoint-failure';
import { isRecord, recordAt, stringAt } from '../json-record';
import type { Model, ModelCallOptions, ModelRequest, ModelResponse } from '../port';
import { prepareCall } from '../prepare-call';
import type { WireRequest } from '../wire';
import { classifyError } from './classify-error';
import { createIdleTimer } from './idle-timer';
import type { IdleTimer } from './idle-timer';
import { createMessageAssembler } from './message-assembler';
import type { AssembledMessage } from './message-assembler';

export interface AnthropicOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Longest silence between two events of an answer; pings are not events. */
  readonly idleMs: number;
  /** Longest wait for the answer to begin. */
  readonly timeoutMs: number;
  /** In what the endpoint differs from the original. */
  readonly profile?: EndpointProfile;
  readonly onWarning?: (text: string) => void;
}

/**
 * The Messages API, or anything that speaks it. One HTTP request per `respond`: retries are Temporal's. Everything the
 * SDK would take from the environment is given explicitly. No failure and no warning holds the key. Throws `PortError`
 * `invalid_request` for a base URL that is none.
 */
export function createAnthropicModel(options: AnthropicOptions): Model {
  const redact = (text: string) => text.split(options.apiKey).join('[key]');
  const warn = options.onWarning ?? (() => undefined);
  const onWarning = (text: string) => {
    warn(redact(text));
  };
  const profile = options.profile ?? STANDARD_PROFILE;
  const endpoint = hostOf(options.baseUrl);
  const client = createClient(options, profile, onWarning);
  const ask = async (request: ModelRequest, asProfile: EndpointProfile, call: ModelCallOptions) => {
    call.signal.throwIfAborted();
    const body = await prepareCall(request, onWarning, asProfile);
    const idle = createIdleTimer(options.idleMs);
    try {
      return toResponse(await receive({ client, endpoint, profile, body, idle, call }), request);
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof PortError) throw withRedactedDetail(error, redact);
      const failure = idle.expired()
        ? stalled(endpoint, options.idleMs)
        : classifyError(error, { endpoint, timeoutMs: options.timeoutMs, nowMs: Date.now() });
      throw new PortError({ ...failure, detail: redact(failure.detail) });
    } finally {
      idle.stop();
    }
  };
  return {
    async respond(request, call) {
      try {
        return await ask(request, profile, call);
      } catch (error) {
        const refused = error instanceof PortError && isThinkingRefused(error.failure) && hasThinking(request.messages);
        if (!refused) throw error;
        onWarning(`Turn ${String(request.turn)}: the endpoint refused its own thinking blocks, so they are left out.`);
        return ask(request, { ...profile, thinking: 'drop' }, call);
      }
    },
  };
}

/** Thinking may be lost to an endpoint, for example when the model was changed: then it is asked once more without. */
function hasThinking(messages: readonly Message[]): boolean {
  return messages.some(
    ({ role, content }) => role === 'assistant' && content.some(({ type }) => type.endsWith('thinking')),
  );
}

function createClient(
  options: AnthropicOptions,
  { auth }: EndpointProfile,
  onWarning: (text: string) => void,
): Anthropic {
  // Only the message: what the SDK logs beside it may be headers or parts of the conversation.
  const log = (message: string) => {
    onWarning(`Anthropic SDK: ${message}`);
  };
  const ignore = () => undefined;
  return new Anthropic({
    apiKey: options.apiKey,
    baseURL: options.baseUrl,
    webhookKey: null,
    maxRetries: 0,
    timeout: options.timeoutMs,
    logLevel: 'warn',
    logger: { error: log, warn: log, info: ignore, debug: ignore },
    openTelemetry: false,
    // A redirect would be a second request, with the conversation, to an address nobody configured.
    fetchOptions: { redirect: 'manual' },
    fetch: (url, init) => fetch(url, { ...init, headers: ownHeaders(init?.headers) }),
    defaultHeaders:
      auth === 'x-api-key'
        ? { 'x-api-key': options.apiKey, authorization: null }
        : { 'x-api-key': null, authorization: `Bearer ${options.apiKey}` },
  });
}

const OWN_HEADERS = /^(accept|anthropic-version|authorization|content-type|user-agent|x-api-key|x-stainless-.*)$/i;

/** The SDK adds headers that a variable of the environment names; nobody configured them here. */
function ownHeaders(headers: ConstructorParameters<typeof Headers>[0]): Headers {
  return new Headers([...new Headers(headers)].filter(([name]) => OWN_HEADERS.test(name)));
}

interface Exchange {
  readonly client: Anthropic;
  readonly endpoint: string;
  readonly profile: EndpointProfile;
  readonly body: WireRequest;
  readonly idle: IdleTimer;
  readonly call: ModelCallOptions;
}

async function receive({ client, endpoint, profile, body, idle, call }: Exchange): Promise<AssembledMessage> {
  const signal = AbortSignal.any([call.signal, idle.signal]);
  const { data: stream, response } = await client.messages
    .create(body as MessageCreateParamsStreaming, { signal })
    .withResponse();
  const assembler = createMessageAssembler(profile.echoFields);
  idle.restart();
  for await (const event of stream) {
    idle.restart();
    throwIfErrorEvent(event, endpoint);
    const text = assembler.take(event);
    const spent = COUNTING.has(typeOf(event)) ? assembler.spent() : undefined;
    if (spent !== undefined) call.onProgress({ text, spent: { ...spent, model: spent.model ?? body.model } });
    else if (text !== '') call.onProgress({ text });
    if (assembler.size() > 2 * MAX_ANSWER_BYTES) throw answerTooLarge();
  }
  // The SDK ends an aborted stream as if it were complete.
  signal.throwIfAborted();
  const message = assembler.finish();
  if (message === null) throw new PortError(brokenOff(endpoint, response.headers.get('content-type')));
  return message;
}

function toResponse(message: AssembledMessage, request: ModelRequest): ModelResponse {
  checkAnswerSize(message.content);
  return { ...message, model: message.model ?? request.model };
}

/** Events that bring counters. */
const COUNTING: ReadonlySet<string> = new Set(['message_start', 'message_delta']);

function typeOf(event: unknown): string {
  return isRecord(event) ? (stringAt(event, 'type') ?? '') : '';
}

/** Some endpoints send an error as a plain event, which the SDK passes on. */
function throwIfErrorEvent(event: unknown, endpoint: string): void {
  if (!isRecord(event) || event['type'] !== 'error') return;
  const error = recordAt(event, 'error');
  const type = stringAt(error, 'type');
  const message = stringAt(error, 'message');
  throw new PortError(
    toEndpointFailure(
      { ...(type === undefined ? {} : { type }), ...(message === undefined ? {} : { message }) },
      endpoint,
    ),
  );
}

function stalled(endpoint: string, idleMs: number): PortFailure {
  const seconds = String(Math.round(idleMs / 100) / 10);
  return { class: 'stalled', retryable: true, detail: `${endpoint} went silent for ${seconds} s in its answer.` };
}

function brokenOff(endpoint: string, contentType: string | null): PortFailure {
  if (contentType?.includes('event-stream') === true) {
    return { class: 'connection', retryable: true, detail: `${endpoint} ended its answer before it was complete.` };
  }
  const what = contentType === null ? 'something without a type' : contentType.split(';')[0];
  return {
    class: 'server_error',
    retryable: true,
    detail: `${endpoint} answered with ${String(what)} instead of an event stream: check ANTHROPIC_BASE_URL.`,
  };
}

function withRedactedDetail(error: PortError, redact: (text: string) => string): PortError {
  return new PortError({ ...error.failure, detail: redact(error.failure.detail) });
}

/** Host and port for messages. Throws `PortError` for what is no plain address: the SDK would fail late and unclearly. */
function hostOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return url.host;
  throw new PortError({
    class: 'invalid_request',
    retryable: false,
    // The address is not shown: it may hold a password.
    detail: 'The address of the model endpoint is no http or https URL without a user name: check ANTHROPIC_BASE_URL.',
  });
}
