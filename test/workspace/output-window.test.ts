import fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOutputPart, readOutputWindow } from '../../src/workspace/output-window';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';

let file: string;
beforeAll(async () => {
  file = join(await tempDirectory('output'), 'output');
});
afterAll(removeTempDirectories);

const text = fc
  .array(fc.constantFrom('a', 'é', '€', '😀', '\n', '\0'), { maxLength: 60 })
  .map((parts) => parts.join(''));

test('property: head and tail are valid text, and what is left out between is counted truly', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.nat(50), fc.nat(50), async (content, headBytes, tailBytes) => {
      writeFileSync(file, content);
      const window = await readOutputWindow(file, { headBytes, tailBytes });
      const whole = Buffer.from(content);
      expect(window.head + window.tail).not.toContain('\ufffd');
      expect(content.startsWith(window.head)).toBe(true);
      expect(content.endsWith(window.tail)).toBe(true);
      const shown = Buffer.byteLength(window.head) + Buffer.byteLength(window.tail);
      expect(window.omittedBytes).toBe(whole.length - shown);
      expect(window.totalBytes).toBe(whole.length);
      expect(window.headBytes).toBe(Buffer.byteLength(window.head));
    }),
    { numRuns: 300 },
  );
});

test('property: parts read one after the other are the whole, and it ends', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 4, max: 20 }), async (content, maxBytes) => {
      writeFileSync(file, content);
      let shown = '';
      let from = 0;
      for (let reads = 0; reads <= content.length; reads += 1) {
        const part = await readOutputPart(file, { from, maxBytes });
        shown += part.text;
        if (part.to === part.totalBytes) break;
        expect(part.to).toBeGreaterThan(from);
        from = part.to;
      }
      expect(shown).toBe(content);
    }),
    { numRuns: 200 },
  );
});

test('bytes that are no text → replaced, never more than there are; from past the end → nothing', async () => {
  writeFileSync(file, Buffer.from('61ff80e2', 'hex'));
  expect(await readOutputPart(file, { from: 0, maxBytes: 10 })).toEqual({
    text: 'a���',
    from: 0,
    to: 4,
    totalBytes: 4,
  });
  expect(await readOutputPart(file, { from: 9, maxBytes: 10 })).toEqual({ text: '', from: 4, to: 4, totalBytes: 4 });
  expect(await readOutputPart(`${file}-none`, { from: 0, maxBytes: 10 })).toMatchObject({ text: '', totalBytes: 0 });
});
