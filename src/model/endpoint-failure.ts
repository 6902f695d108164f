import type { FailureClass, PortFailure } from '../contract/failure';
import { toWellFormed } from './well-formed';

/** What an endpoint answered instead of a message. */
export interface EndpointAnswer {
  /** HTTP status; absent for an error inside a stream that began well. */
  readonly status?: number;
  /** `error.type` of the body. */
  readonly type?: string;
  /** `error.message` of the body, or the body itself. */
  readonly message?: string;
  readonly retryAfterMs?: number;
}

type Kind = readonly [failureClass: FailureClass, retryable: boolean, sentence: string];

const KINDS = {
  unauthenticated: ['unauthenticated', false, 'refused the API key: check ANTHROPIC_API_KEY'],
  permission: ['permission_refused', false, 'does not allow this API key to do this'],
  billing: ['billing', false, 'wants its bill settled: check the plan and the credit of the account'],
  notFound: ['not_found', false, 'does not know this model or address: check --model and ANTHROPIC_BASE_URL'],
  invalid: ['invalid_request', false, 'refused the request as invalid'],
  contextWindow: ['context_window', false, 'says that the conversation is longer than the context window'],
  tooLarge: ['too_large', false, 'says that the request is too large'],
  redirect: ['not_found', false, 'sends requests elsewhere: set ANTHROPIC_BASE_URL to the final address'],
  rateLimited: ['rate_limited', true, 'limits the rate of requests'],
  overloaded: ['overloaded', true, 'is overloaded'],
  timeout: ['server_error', true, 'ran into a timeout'],
  conflict: ['server_error', true, 'reports a conflict'],
  server: ['server_error', true, 'failed'],
} as const satisfies Record<string, Kind>;

const KIND_OF_TYPE: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['authentication_error', KINDS.unauthenticated],
  ['permission_error', KINDS.permission],
  ['billing_error', KINDS.billing],
  ['not_found_error', KINDS.notFound],
  ['request_too_large', KINDS.tooLarge],
  ['rate_limit_error', KINDS.rateLimited],
  ['overloaded_error', KINDS.overloaded],
  ['timeout_error', KINDS.timeout],
  ['conflict_error', KINDS.conflict],
]);

const KIND_OF_STATUS: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [400, KINDS.invalid],
  [401, KINDS.unauthenticated],
  [402, KINDS.billing],
  [403, KINDS.permission],
  [404, KINDS.notFound],
  [408, KINDS.timeout],
  [409, KINDS.conflict],
  [413, KINDS.tooLarge],
  [422, KINDS.invalid],
  [429, KINDS.rateLimited],
  [504, KINDS.timeout],
  [529, KINDS.overloaded],
]);

/** Beyond any run's patience; the run's own budget decides. */
const MAX_RETRY_AFTER_MS = 7 * 24 * 3_600_000;
const MAX_MESSAGE_CHARS = 300;
/** Known wordings. No documented code marks this refusal, so this is the one place that reads an endpoint's words. */
const TOO_LONG = /prompt is too long|exceeds? (the )?(model'?s )?(maximum )?context|context (window|length|limit)/i;
// eslint-disable-next-line no-control-regex -- what an endpoint says is shown on terminals
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g;

const THINKING = /thinking|signature/i;

/** A request refused for the thinking blocks in it; read from its words for the same lack of a code. */
export function isThinkingRefused({ class: failureClass, detail }: PortFailure): boolean {
  return failureClass === 'invalid_request' && THINKING.test(detail);
}

/**
 * The failure that an endpoint's answer stands for: by error type, then by status. The generic types
 * (`invalid_request_error`, `api_error`) and unknown ones say less than the status, so there the status decides.
 */
export function toEndpointFailure(answer: EndpointAnswer, endpoint: string): PortFailure {
  const [failureClass, retryable, sentence] = chooseKind(answer);
  const status = answer.status === undefined ? '' : ` (HTTP ${String(answer.status)})`;
  const said = describeMessage(answer.message);
  return {
    class: failureClass,
    retryable,
    ...(retryable && answer.retryAfterMs !== undefined ? { retryAfterMs: capRetryAfter(answer.retryAfterMs) } : {}),
    detail: `${endpoint} ${sentence}${status}${said === '' ? '.' : `. It said: ${said}`}`,
  };
}

function chooseKind({ status, type, message }: EndpointAnswer): Kind {
  const byType = KIND_OF_TYPE.get(type ?? '');
  if (byType !== undefined) return byType;
  const kind = status === undefined ? kindWithoutStatus(type) : kindOfStatus(status);
  return kind === KINDS.invalid && TOO_LONG.test(message ?? '') ? KINDS.contextWindow : kind;
}

function kindWithoutStatus(type: string | undefined): Kind {
  return type === 'invalid_request_error' ? KINDS.invalid : KINDS.server;
}

function kindOfStatus(status: number): Kind {
  const known = KIND_OF_STATUS.get(status);
  if (known !== undefined) return known;
  if (status >= 300 && status < 400) return KINDS.redirect;
  return status >= 400 && status < 500 ? KINDS.invalid : KINDS.server;
}

function capRetryAfter(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_RETRY_AFTER_MS);
}

/** One line for people: web pages are named, not shown; control characters and excess are cut. */
function describeMessage(message: string | undefined): string {
  const line = toWellFormed((message ?? '').replace(CONTROL, ' ').trim());
  if (/^<(!doctype|html|\?xml)/i.test(line)) return 'a web page instead of JSON.';
  return line.length <= MAX_MESSAGE_CHARS ? line : `${toWellFormed(line.slice(0, MAX_MESSAGE_CHARS))}…`;
}
