import { AnthropicError, APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { classifyError } from '../../../src/model/anthropic/classify-error';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const classify = (error: unknown) => classifyError(error, { endpoint: 'api.test', timeoutMs: 60_000, nowMs: NOW });
const answer = (status: number, body: object | undefined, headers: Record<string, string> = {}) =>
  APIError.generate(status, body, undefined, new Headers(headers));
const body = (type: string, message = 'words') => ({ type: 'error', error: { type, message } });
const withCode = (code: string) =>
  new APIConnectionError({
    cause: new TypeError('fetch failed', { cause: Object.assign(new Error('inner'), { code }) }),
  });

test.each<[string, unknown, string, boolean]>([
  ['401', answer(401, body('authentication_error')), 'unauthenticated', false],
  ['403', answer(403, body('permission_error')), 'permission_refused', false],
  ['402', answer(402, body('billing_error')), 'billing', false],
  ['404', answer(404, body('not_found_error')), 'not_found', false],
  ['400', answer(400, body('invalid_request_error')), 'invalid_request', false],
  [
    '400 that names the context',
    answer(400, body('invalid_request_error', 'input length and `max_tokens` exceed context limit')),
    'context_window',
    false,
  ],
  ['413', answer(413, body('request_too_large')), 'too_large', false],
  ['413 of a proxy', answer(413, undefined), 'too_large', false],
  ['413 with a generic type', answer(413, body('invalid_request_error', 'prompt is too long')), 'too_large', false],
  ['422', answer(422, undefined), 'invalid_request', false],
  ['408', answer(408, undefined), 'server_error', true],
  ['409', answer(409, body('conflict_error')), 'server_error', true],
  ['429', answer(429, body('rate_limit_error')), 'rate_limited', true],
  ['429 without a body', answer(429, undefined), 'rate_limited', true],
  ['500', answer(500, body('api_error')), 'server_error', true],
  ['502 without JSON', answer(502, undefined), 'server_error', true],
  ['503 with an unknown type', answer(503, body('new_error')), 'server_error', true],
  ['504', answer(504, body('timeout_error')), 'server_error', true],
  ['529', answer(529, body('overloaded_error')), 'overloaded', true],
  ['529 without a body', answer(529, undefined), 'overloaded', true],
  [
    '401 with a generic type, as some gateways send it',
    answer(401, body('invalid_request_error')),
    'unauthenticated',
    false,
  ],
  ['500 that says overloaded: the type counts', answer(500, body('overloaded_error')), 'overloaded', true],
  ['418', answer(418, undefined), 'invalid_request', false],
  [
    'overloaded in mid-stream, without a status',
    new APIError(undefined, body('overloaded_error'), undefined, undefined, 'overloaded_error'),
    'overloaded',
    true,
  ],
  [
    'rate limit in mid-stream',
    new APIError(undefined, body('rate_limit_error'), undefined, undefined, 'rate_limit_error'),
    'rate_limited',
    true,
  ],
  ['an unknown error in mid-stream', new APIError(undefined, 'text', undefined, undefined), 'server_error', true],
  [
    'a stream that was cut',
    new AnthropicError('terminated', { cause: new TypeError('terminated') }),
    'connection',
    true,
  ],
  ['a cut body as fetch throws it', new TypeError('terminated'), 'connection', true],
  ['connection refused', withCode('ECONNREFUSED'), 'connection', true],
  ['connection reset', withCode('ECONNRESET'), 'connection', true],
  ['an unknown name', withCode('ENOTFOUND'), 'connection', true],
  ['a name server that is away', withCode('EAI_AGAIN'), 'connection', true],
  ["a certificate of one's own", withCode('DEPTH_ZERO_SELF_SIGNED_CERT'), 'connection', false],
  ['an expired certificate', withCode('CERT_HAS_EXPIRED'), 'connection', false],
  ['a name that is not in the certificate', withCode('ERR_TLS_CERT_ALTNAME_INVALID'), 'connection', false],
  ['no TLS on the other side', withCode('ERR_SSL_WRONG_VERSION_NUMBER'), 'connection', false],
  ['no code at all', new APIConnectionError({ message: 'x' }), 'connection', true],
  ['no headers in time', new APIConnectionTimeoutError(), 'connection', true],
  ['data that is no JSON', new SyntaxError('Unexpected token'), 'server_error', true],
  ['something that is no error', 'oops', 'server_error', true],
])('%s → its class', (_, error, failureClass, retryable) => {
  const failure = classify(error);
  expect(failure).toMatchObject({ class: failureClass, retryable });
  expect(failure.detail).toMatch(/api\.test/);
});

test.each<[string, Record<string, string>, number | undefined]>([
  ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  ['seconds', { 'retry-after': '600' }, 600_000],
  ['half a second', { 'retry-after': '0.5' }, 500],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  ['a date in the past', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  ['a day', { 'retry-after': '86400' }, 86_400_000],
  ['a year', { 'retry-after': '31536000' }, 604_800_000],
  ['nothing', {}, undefined],
  ['nonsense', { 'retry-after': 'soon' }, undefined],
  ['a negative number', { 'retry-after': '-5' }, undefined],
])('a 429 with %s to wait → that long, at most a week', (_, headers, expected) => {
  expect(classify(answer(429, body('rate_limit_error'), headers)).retryAfterMs).toBe(expected);
});

test('a failure that is final → no time to wait', () => {
  expect(classify(answer(401, body('authentication_error'), { 'retry-after': '5' })).retryAfterMs).toBeUndefined();
});

test('a host with several addresses → the code of the first', () => {
  const inner = new AggregateError([Object.assign(new Error('a'), { code: 'ECONNREFUSED' })]);
  const error = new APIConnectionError({ cause: new TypeError('fetch failed', { cause: inner }) });
  expect(classify(error).detail).toBe('api.test could not be reached (ECONNREFUSED).');
});

test('long words with control characters → one line, cut', () => {
  const { detail } = classify(answer(400, body('invalid_request_error', `a\n\u001b[31mb${'x'.repeat(1000)}`)));
  expect(detail).toMatch(/^api\.test refused the request as invalid \(HTTP 400\)\. It said: a \[31mbx+…$/);
  expect(detail.length).toBeLessThan(400);
});
