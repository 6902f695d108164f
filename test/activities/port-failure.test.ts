import { ApplicationFailure } from '@temporalio/activity';
import { toApplicationFailure } from '../../src/activities/port-failure';
import { PortError } from '../../src/contract/port-error';
import { createRedactor } from '../../src/redactor';

const redact = createRedactor(['sk-0123456789']);

test('a port failure that quotes the key → masked in the message and in the details', () => {
  const error = new PortError({ class: 'invalid_request', retryable: false, detail: 'bad header sk-0123456789' });
  const failure = toApplicationFailure(error, redact);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({
    message: 'bad header [secret]',
    nonRetryable: true,
    details: [{ class: 'invalid_request', detail: 'bad header [secret]' }],
  });
});

test('a bug that quotes the key → masked in messages and stacks, also of what caused it; it stays the same error', () => {
  const cause = new Error('cannot parse sk-0123456789');
  const bug = new TypeError('no sk-0123456789', { cause });
  expect(toApplicationFailure(bug, redact)).toBe(bug);
  const texts = [bug.message, bug.stack, cause.message, cause.stack].join('\n');
  expect(texts).toMatch(/^no \[secret\]\nTypeError: no \[secret\]\n/);
  expect(texts).not.toContain('sk-0123456789');
});

test('what causes itself → comes to an end', () => {
  const error = new Error('round');
  error.cause = error;
  expect(toApplicationFailure(error, redact)).toBe(error);
});
