import fc from 'fast-check';
import { findMatches, fitLineEndings, lineNumbers } from '../../src/tools/edit-match';

const piece = fc.constantFrom('a', 'b', 'ab', '\n', '\r\n', '\r', ' ', 'é', '$&', '\t');
const text = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(''));

test('property: every byte outside the matches is as before, matches never overlap and never split a line ending', () => {
  fc.assert(
    fc.property(text, fc.array(piece, { minLength: 1, maxLength: 4 }), (content, wantedParts) => {
      const body = Buffer.from(content);
      const wanted = wantedParts.join('');
      let from = 0;
      for (const { start, end } of findMatches(body, Buffer.from(wanted))) {
        expect(start).toBeGreaterThanOrEqual(from);
        expect(end).toBeGreaterThan(start);
        from = end;
        const matched = body.subarray(start, end).toString();
        if (!body.includes('\r\n')) expect(matched).toBe(wanted);
        else {
          expect(matched.replaceAll('\r\n', '\n')).toBe(wanted.replaceAll('\r\n', '\n'));
          expect(body[start] === 0x0a && body[start - 1] === 0x0d).toBe(false);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('property: with LF only, matches are exactly those of a plain search', () => {
  const plain = text.map((content) => content.replaceAll('\r', ''));
  fc.assert(
    fc.property(plain, fc.constantFrom('a', 'ab', 'aa', '\n', 'b\na'), (content, wanted) => {
      const count = findMatches(Buffer.from(content), Buffer.from(wanted)).length;
      return count === content.split(wanted).length - 1;
    }),
  );
});

test('property: a replacement in a file with CRLF only has no ending of another kind', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', '\n'), { maxLength: 10 }), (parts) => {
      const body = Buffer.from('x\r\ny\r\nz\r\n');
      const [range] = findMatches(body, Buffer.from('y\n'));
      const fitted = fitLineEndings(body, range!, Buffer.from(parts.join(''))).toString();
      return !/(?<!\r)\n|\r\r/u.test(fitted) && fitted.replaceAll('\r\n', '\n') === parts.join('');
    }),
  );
});

test('line numbers → of the first byte of each match', () => {
  const body = Buffer.from('x\ny\nx\n');
  expect(lineNumbers(body, findMatches(body, Buffer.from('x')))).toEqual([1, 3]);
});
