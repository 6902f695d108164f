import fc from 'fast-check';
import { cutEnd, cutMiddle } from '../../src/tools/cut-text';
import { toVisibleText } from '../../src/tools/visible-text';

const anyText = fc.string({ unit: 'binary', maxLength: 300 });
const note = (omitted: number): string => `[… ${omitted} …]`;

test('property: cutMiddle fits, is well-formed, and says truly how many bytes are missing', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 20, max: 400 }), (text, maxBytes) => {
      const total = Buffer.byteLength(text);
      const cut = cutMiddle(text, maxBytes, note);
      expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(maxBytes);
      expect(cut.text).not.toMatch(/\p{Surrogate}/u);
      if (cut.omittedBytes === 0) return cut.text === Buffer.from(text).toString();
      const kept = Buffer.byteLength(cut.text) - Buffer.byteLength(note(cut.omittedBytes));
      return kept + cut.omittedBytes === total && cut.text.includes(note(cut.omittedBytes));
    }),
  );
});

test('property: cutEnd keeps a beginning and counts the rest', () => {
  fc.assert(
    fc.property(anyText, fc.nat(400), (text, maxBytes) => {
      const cut = cutEnd(text, maxBytes);
      const whole = Buffer.from(text).toString();
      return (
        whole.startsWith(cut.text) &&
        Buffer.byteLength(cut.text) <= maxBytes &&
        Buffer.byteLength(cut.text) + cut.omittedBytes === Buffer.byteLength(whole)
      );
    }),
  );
});

test('cutMiddle: head and tail stay, four to six', () => {
  expect(cutMiddle('a'.repeat(50) + 'b'.repeat(50), 30, () => '[…]').text).toBe(
    `${'a'.repeat(10)}[…]${'b'.repeat(15)}`,
  );
});

test('cutMiddle: no room even for the note → still within the limit', () => {
  expect(Buffer.byteLength(cutMiddle('x'.repeat(100), 3, note).text)).toBeLessThanOrEqual(3);
});

test('property: visible text has no control character but tab and newline', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.integer({ min: 0, max: 0x2100 }).map((code) => String.fromCodePoint(code)) }),
      (text) => {
        return !/[\p{Cc}\u202a-\u202e\u200b]/u.test(toVisibleText(text).replaceAll(/[\n\t]/gu, ''));
      },
    ),
  );
});

test.each([
  ['a\r\nb\n', 'a\nb\n'],
  ['ok\rno\b', String.raw`ok\rno\x08`],
  ['\u202etxt', String.raw`\u202etxt`],
  ['x\ud800', String.raw`x\ud800`],
  ['ünïcödé 中文 👍', 'ünïcödé 中文 👍'],
])('%j is shown as %j', (text, shown) => {
  expect(toVisibleText(text)).toBe(shown);
});
