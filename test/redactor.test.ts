import fc from 'fast-check';
import { createRedactor } from '../src/redactor';

const KEY = 'sk-live-0123456789';

test.each([
  ['as it is', `key=${KEY}!`, 'key=[secret]!'],
  ['twice', `${KEY} ${KEY}`, '[secret] [secret]'],
  ['in base64', Buffer.from(KEY).toString('base64'), '[secret]'],
  // Five bytes stand before it, so the characters at its borders hold bits of its neighbours too and stay.
  ['inside a longer base64 text', Buffer.from(`user:${KEY}`).toString('base64'), 'dXNlcjp[secret]k='],
  ['nowhere', 'sk-live is the prefix of a key', 'sk-live is the prefix of a key'],
])('a secret %s', (_name, text, expected) => {
  expect(createRedactor([KEY])(text)).toBe(expected);
});

test('a secret with special characters → masked in a URL, in a form, in JSON and in base64url', () => {
  const secret = 'p&ss "w/ord"+?>>';
  const redact = createRedactor([secret]);
  const shown = [
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll('%20', '+'),
    JSON.stringify({ secret }),
    Buffer.from(secret).toString('base64url'),
  ];
  expect(shown.map((text) => redact(text))).toEqual(['[secret]', '[secret]', '{"secret":"[secret]"}', '[secret]']);
});

test('a secret inside another → nothing of the longer one is left', () => {
  expect(createRedactor(['hunter22', 'hunter22-and-more'])('x hunter22-and-more y')).toBe('x [secret] y');
});

test('a key of several lines → masked also where each line is shown by itself', () => {
  const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n';
  const shown = pem.split('\n').map((line, index) => `${String(index + 1)}\t${line}`);
  expect(createRedactor([pem])(shown.join('\n'))).toBe(
    '1\t-----BEGIN KEY-----\n2\t[secret]\n3\t[secret]\n4\t-----END KEY-----\n5\t',
  );
});

test('a text that was cut inside a secret → what is left of it is masked, at either end', () => {
  const redact = createRedactor([KEY]);
  expect(redact('3456789 and so on sk-live-01', 'piece')).toBe('[secret] and so on [secret]');
  expect(redact('3456789 and so on sk-live-01')).toBe('3456789 and so on sk-live-01');
});

test('a tool left out the middle of its output, and with it a part of a secret → both rests are masked', () => {
  const text = 'head sk-live-0\n[… 5 bytes left out …]\n6789 tail';
  expect(createRedactor([KEY])(text)).toBe('head [secret]\n[… 5 bytes left out …]\n[secret] tail');
});

test('no secrets → the text stays as it is', () => {
  expect(createRedactor([])('anything … at all', 'piece')).toBe('anything … at all');
});

// Letters that no mask and no filler has, so that each of them in the output is a piece of the secret.
const secretText = fc.string({ unit: fc.constantFrom('Q', 'W', 'X', 'Z', '%', '+', '"'), minLength: 8, maxLength: 40 });
const filler = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é'), maxLength: 20 });

test('any window of a stream with secrets in it, redacted as a piece → at most 3 letters of a secret show in a row', () => {
  fc.assert(
    fc.property(
      secretText,
      fc.array(filler, { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.nat(),
      (secret, parts, a, b) => {
        const stream = parts.join(secret);
        const [from, to] = [a % (stream.length + 1), b % (stream.length + 1)].sort((x, y) => x - y);
        const shown = createRedactor([secret])(stream.slice(from, to), 'piece');
        const insideOne = stream.slice(from, to).length < secret.length;
        // A window smaller than a secret may show an inner part, which is neither its beginning nor its end.
        if (!insideOne) expect(shown).not.toMatch(/[QWXZ%+"]{4}/);
      },
    ),
    { numRuns: 500 },
  );
});

test('any text without the secret’s letters, whole → unchanged', () => {
  fc.assert(
    fc.property(secretText, filler, (secret, text) => {
      expect(createRedactor([secret])(text)).toBe(text);
    }),
  );
});

test('blanks and ellipses, ten times as many → not a hundred times the time', () => {
  const redact = createRedactor([KEY]);
  const timeOf = (size: number): number => {
    const text = ' '.repeat(5 * size) + '[…'.repeat(size) + 'x\n'.repeat(size);
    const startedAt = performance.now();
    redact(text, 'piece');
    return performance.now() - startedAt;
  };
  timeOf(10_000);
  expect(timeOf(100_000)).toBeLessThan(40 * Math.max(timeOf(10_000), 2));
});
