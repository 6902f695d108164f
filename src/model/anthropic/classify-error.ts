import { AnthropicError, APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import type { PortFailure } from '../../contract/failure';
import { toEndpointFailure } from '../endpoint-failure';
import { readRetryAfter } from './retry-after';

export interface ErrorContext {
  /** How the endpoint is called in sentences, e.g. its host. */
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly nowMs: number;
}

const CERTIFICATE_CODE = /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_|HOSTNAME_MISMATCH)/;
const PROTOCOL_CODE = /^(ERR_SSL_|EPROTO)/;
const DNS_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA']);

/** What the SDK threw → the one failure it stands for: by error type, then by status, then by the connection's state. */
export function classifyError(error: unknown, context: ErrorContext): PortFailure {
  if (error instanceof APIConnectionTimeoutError) {
    const seconds = String(Math.round(context.timeoutMs / 1000));
    return connection(`${context.endpoint} did not begin to answer within ${seconds} s.`);
  }
  if (error instanceof APIConnectionError) return classifyConnection(error, context);
  if (error instanceof APIError) return classifyAnswer(error, context);
  if (error instanceof AnthropicError || isNetworkError(error)) {
    return connection(`${context.endpoint} broke off in the middle of its answer.`);
  }
  return {
    class: 'server_error',
    retryable: true,
    detail: `${context.endpoint} sent something that is no answer of the Messages API (${nameOf(error)}).`,
  };
}

/** The parts of the SDK's `APIError` that count; its own type leaves them open. */
interface SdkAnswer {
  readonly status: unknown;
  readonly type: unknown;
  readonly apiMessage: unknown;
  readonly message: string;
  readonly headers: { get(name: string): string | null } | undefined;
}

function classifyAnswer(error: SdkAnswer, context: ErrorContext): PortFailure {
  const retryAfterMs = readRetryAfter((name) => error.headers?.get(name), context.nowMs);
  const message = error.apiMessage ?? error.message.replace(/^\d{3} /, '');
  return toEndpointFailure(
    {
      ...(typeof error.status === 'number' ? { status: error.status } : {}),
      ...(typeof error.type === 'string' ? { type: error.type } : {}),
      ...(typeof message === 'string' ? { message } : {}),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
    context.endpoint,
  );
}

function classifyConnection(error: APIConnectionError, { endpoint }: ErrorContext): PortFailure {
  const code = findCode(error);
  if (code === undefined) return connection(`${endpoint} could not be reached.`);
  if (CERTIFICATE_CODE.test(code)) {
    return {
      ...connection(`The certificate of ${endpoint} is not trusted (${code}): set NODE_EXTRA_CA_CERTS for the worker.`),
      retryable: false,
    };
  }
  if (PROTOCOL_CODE.test(code)) {
    return {
      ...connection(`${endpoint} does not speak TLS as expected (${code}): check ANTHROPIC_BASE_URL.`),
      retryable: false,
    };
  }
  if (DNS_CODES.has(code)) return connection(`The name of ${endpoint} could not be resolved (${code}).`);
  return connection(`${endpoint} could not be reached (${code}).`);
}

function connection(detail: string): PortFailure {
  return { class: 'connection', retryable: true, detail };
}

/** The system's error code, from the innermost cause that has one. */
function findCode(error: unknown): string | undefined {
  let code: string | undefined;
  let current = toFields(error);
  for (let depth = 0; depth < 8 && current !== undefined; depth += 1) {
    if (typeof current.code === 'string') code = current.code;
    // A host with several addresses fails with one error each.
    current = toFields(Array.isArray(current.errors) ? current.errors[0] : current.cause);
  }
  return code;
}

/** What `fetch` throws when the body's socket goes away. */
function isNetworkError(error: unknown): boolean {
  const { name, message } = toFields(error) ?? {};
  return (name === 'TypeError' && message === 'terminated') || findCode(error) !== undefined;
}

function nameOf(error: unknown): string {
  const name = toFields(error)?.name;
  return typeof name === 'string' ? name : typeof error;
}

interface ErrorFields {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** By its fields, not by `instanceof`: `fetch` may be of another realm than this module. */
function toFields(error: unknown): ErrorFields | undefined {
  return typeof error === 'object' && error !== null ? error : undefined;
}
