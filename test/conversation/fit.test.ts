import fc from 'fast-check';
import { cutText, fit } from '../../src/conversation/fit';
import { jsonBytes, leafBytes, utf8Bytes } from '../../src/conversation/json-size';

const MB3 = 3_000_000;

/** Bytes as they go over the wire. */
function wireBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value), 'utf8');
}

/** A surrogate without its other half. */
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Characters of one to four bytes, and those that JSON writes as up to six. */
const awkward = fc.constantFrom('a', 'é', '漢', '😀', '\u0000', '"', '\\', '\n', '\u2028');
const awkwardText = fc.array(awkward, { maxLength: 200 }).map((parts) => parts.join(''));
const longText = fc.tuple(awkward, fc.integer({ min: 1, max: 6_000 })).map(([part, times]) => part.repeat(times));
const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(awkwardText, longText, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 30 }),
    fc.dictionary(awkwardText, tie('value'), { maxKeys: 30 }),
  ),
})).value;

describe('sizes', () => {
  test('any text → as many bytes as UTF-8 takes, a lone surrogate counts as its replacement', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), awkwardText, fc.constant('a\ud800b\udc00')), (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text, 'utf8'));
      }),
    );
  });

  test('any value → as many bytes as its JSON; what JSON cannot say has none', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(jsonBytes(value)).toBe(wireBytes(value));
      }),
      { numRuns: 50 },
    );
    expect(jsonBytes(undefined)).toBe(0);
  });

  test('any text, number, boolean or null → counted without writing the JSON', () => {
    const everyCode = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
    expect(everyCode.filter((text) => leafBytes(text) !== wireBytes(text))).toEqual([]);
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      awkwardText,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    fc.assert(
      fc.property(leaf, (value) => {
        expect(leafBytes(value)).toBe(wireBytes(value));
      }),
    );
  });
});

describe('cutText', () => {
  test('text within the budget → the same text', () => {
    expect(cutText('naïve', 6)).toBe('naïve');
  });

  test('one byte too long → cut, and the marker says how many characters are missing', () => {
    expect(cutText('x'.repeat(101), 100)).toBe(`${'x'.repeat(36)}… (65 characters left out)`);
  });

  test('an emoji at the border → left out whole, counted as its two UTF-16 units', () => {
    expect(cutText(`${'x'.repeat(35)}${'😀'.repeat(30)}`, 100)).toBe(`${'x'.repeat(35)}… (60 characters left out)`);
  });

  test('whatever the text: within the budget, a beginning of it, no character broken', () => {
    fc.assert(
      fc.property(fc.oneof(awkwardText, longText), fc.integer({ min: 64, max: 9_000 }), (text, maxBytes) => {
        const cut = cutText(text, maxBytes);
        expect(Buffer.byteLength(cut, 'utf8')).toBeLessThanOrEqual(maxBytes);
        expect(LONE.test(cut)).toBe(false);
        if (Buffer.byteLength(text, 'utf8') <= maxBytes) expect(cut).toBe(text);
        else expect(text.startsWith(cut.replace(/… \(\d+ characters left out\)$/, ''))).toBe(true);
      }),
    );
  });
});

describe('fit', () => {
  test('whatever the value: within the budget, no character broken, untouched when it fits', () => {
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 256, max: 9_000 }), (value, maxBytes) => {
        const fitted = fit(value, maxBytes);
        if (wireBytes(value) <= maxBytes) expect(fitted).toBe(value);
        expect(wireBytes(fitted)).toBeLessThanOrEqual(maxBytes);
        expect(LONE.test(JSON.stringify(fitted))).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  test('a value that fits to the byte stays, one byte less of budget cuts it', () => {
    const value = { text: 'x'.repeat(500) };

    expect(fit(value, 511)).toBe(value);
    expect(fit(value, 510)).toEqual({ text: expect.stringMatching(/^x+… \(\d+ characters left out\)$/) });
  });

  test('one long text among short ones → the short ones stay word for word', () => {
    const value = { id: 'abc', list: ['one', 'two'], n: 7, no: null, long: 'x'.repeat(MB3) };

    const fitted = fit(value, 65_536);

    expect(fitted).toEqual({ ...value, long: expect.stringMatching(/characters left out\)$/) });
    expect(wireBytes(fitted)).toBeGreaterThan(32_000);
  });

  test('many short entries → whole entries are left out, none is cut', () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `message-${String(index)}`);

    const fitted = fit(ids, 16_384);

    expect(fitted.length).toBeGreaterThan(100);
    expect(fitted).toEqual(ids.slice(0, fitted.length));
  });

  test('the input stays as it was', () => {
    const value = { list: ['x'.repeat(1_000), ['y']] };
    const before = JSON.stringify(value);

    fit(value, 300);

    expect(JSON.stringify(value)).toBe(before);
  });

  test('a lone surrogate in the input may stay; its six bytes of JSON are counted', () => {
    expect(fit('\ud800', 256)).toBe('\ud800');
    expect(wireBytes(fit('\ud800'.repeat(2_000), 256))).toBeLessThanOrEqual(256);
  });

  test('a part that JSON leaves out → left out of the copy, too', () => {
    const value = { gone: undefined, kept: false, long: 'x'.repeat(1_000) };

    expect(JSON.parse(JSON.stringify(fit(value, 300)))).toEqual({
      kept: false,
      long: expect.stringContaining('left out'),
    });
  });

  test('a budget that holds nothing → null', () => {
    expect(fit({ a: 1 }, 1)).toBeNull();
  });

  const wide = (count: number, one: (index: number) => unknown) => Array.from({ length: count }, (_, i) => one(i));
  const deep = (depth: number, core: unknown) => {
    let value = core;
    for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
    return value;
  };
  const huge: readonly (readonly [string, () => unknown])[] = [
    ['plain text', () => 'x'.repeat(MB3)],
    ['three-byte characters', () => '漢'.repeat(MB3 / 3)],
    ['surrogate pairs', () => '😀'.repeat(MB3 / 4)],
    ['control characters', () => '\u0001'.repeat(MB3 / 6)],
    ['quotes and backslashes', () => '"\\'.repeat(MB3 / 4)],
    ['a list of texts', () => wide(30, () => 'x'.repeat(MB3 / 30))],
    ['a list of numbers', () => wide(MB3 / 4, (i) => i % 1_000)],
    ['a list of small objects', () => wide(60_000, (i) => ({ call: String(i), tool: 'bash', reason: 'no network' }))],
    ['lists of lists', () => wide(300, () => wide(300, () => 'x'.repeat(30)))],
    ['keys that are huge', () => Object.fromEntries(wide(3, (i) => [String(i) + 'k'.repeat(MB3 / 3), i]) as [])],
    ['a deep value around a long text', () => deep(400, 'x'.repeat(MB3))],
    ['a value too deep for JSON', () => deep(100_000, 'x'.repeat(MB3))],
  ];

  test.each(huge)('3 MB of %s → within every budget, in less than a second', (_title, make) => {
    const value = make();
    for (const maxBytes of [256, 16_384, 65_536, 278_528]) {
      const before = process.cpuUsage();
      const fitted = fit(value, maxBytes);
      const tookMs = process.cpuUsage(before).user / 1_000;

      expect(wireBytes(fitted)).toBeLessThanOrEqual(maxBytes);
      expect(LONE.test(JSON.stringify(fitted))).toBe(false);
      expect(tookMs).toBeLessThan(1_000);
    }
  });

  test('3 MB of a quarter of a million keys → within the budget, before Temporal calls the workflow stuck', () => {
    const value = Object.fromEntries(wide(250_000, (i) => [`key${String(i)}`, i]) as []);
    const before = process.cpuUsage();

    expect(wireBytes(fit(value, 65_536))).toBeLessThanOrEqual(65_536);
    // Listing and writing so many keys alone takes a good part of this; the deadlock detector waits two seconds.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
