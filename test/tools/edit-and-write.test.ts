import fc from 'fast-check';
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createToolBench } from './tool-bench';
import type { ToolBench } from './tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
});
afterEach(() => {
  bench.close();
});

const edit = async (path: string, oldText: string, newText: string, all?: boolean) =>
  await bench.call('edit_file', {
    path,
    old_string: oldText,
    new_string: newText,
    ...(all === undefined ? {} : { replace_all: all }),
  });

describe('edit_file: the replacement goes in byte for byte', () => {
  test.each(['$& ok', '$$', '$`', "$'", '$1', '${x}', '\\n', '%s'])(
    '%s → literal, once and with replace_all',
    async (text) => {
      bench.put('a.js', 'log("done");\n');
      expect((await edit('a.js', 'log("done");', `log("${text}");`)).status).toBe('success');
      expect(bench.bytes('a.js').toString()).toBe(`log("${text}");\n`);
      bench.put('b.js', 'x done x done\n');
      await edit('b.js', 'done', text, true);
      expect(bench.bytes('b.js').toString()).toBe(`x ${text} x ${text}\n`);
    },
  );
});

describe('edit_file: line endings', () => {
  test("a file with CRLF → text given with LF is found, and inserted lines take the file's ending", async () => {
    bench.put('w.txt', 'a\r\nb\r\nc\r\n');
    expect((await bench.call('read_file', { path: 'w.txt' })).message).toBe('1\ta\n2\tb\n3\tc');
    expect((await edit('w.txt', 'a\nb', 'a\nX')).status).toBe('success');
    expect((await edit('w.txt', 'X\nc', 'X\nY\nc')).status).toBe('success');
    expect(bench.bytes('w.txt').toString()).toBe('a\r\nX\r\nY\r\nc\r\n');
  });

  test('a file with CRLF → text given with CRLF is found too, never \\r\\r\\n', async () => {
    bench.put('w.txt', 'a\r\nb\r\nc\r\n');
    await edit('w.txt', 'a\r\nb\r\n', 'a\r\nX\r\nY\r\n');
    expect(bench.bytes('w.txt').toString()).toBe('a\r\nX\r\nY\r\nc\r\n');
  });

  test('mixed endings, spaces and tabs → only the matched bytes change', async () => {
    bench.put('m.txt', 'a\r\nb\nc  \r\n\td\n');
    await edit('m.txt', 'b', 'B');
    expect(bench.bytes('m.txt').toString()).toBe('a\r\nB\nc  \r\n\td\n');
  });

  test('mixed endings within the match → each line keeps its own', async () => {
    bench.put('m.txt', 'a\r\nb\nc\r\nd\n');
    await edit('m.txt', 'a\nb\nc\n', 'A\nB\nC\n');
    expect(bench.bytes('m.txt').toString()).toBe('A\r\nB\nC\r\nd\n');
  });

  test('a match that begins with the line ending → the whole ending is replaced', async () => {
    bench.put('m.txt', 'a\r\nb\r\n');
    await edit('m.txt', '\nb', '');
    expect(bench.bytes('m.txt').toString()).toBe('a\r\n');
  });

  test('a file with LF only → a lone CR in the replacement stays as it was given', async () => {
    bench.put('m.txt', 'a\nb\n');
    await edit('m.txt', 'b', 'b\r\nc');
    expect(bench.bytes('m.txt').toString()).toBe('a\nb\r\nc\n');
  });
});

describe('the form of a file is kept', () => {
  test('byte order mark → hidden from the model, there exactly once after an edit and an overwrite', async () => {
    bench.put('bom.txt', Buffer.from('efbbbf68656c6c6f0ae4b8ade696870a', 'hex'));
    expect((await bench.call('read_file', { path: 'bom.txt' })).message).toBe('1\thello\n2\t中文');
    await edit('bom.txt', 'hello', 'hello2');
    expect(bench.bytes('bom.txt').toString('hex')).toBe('efbbbf68656c6c6f320ae4b8ade696870a');
    await bench.call('write_file', { path: 'bom.txt', content: 'new\n' });
    expect(bench.bytes('bom.txt').toString('hex')).toBe('efbbbf6e65770a');
    await bench.call('write_file', { path: 'bom.txt', content: '\ufeffnew\n' });
    expect(bench.bytes('bom.txt').toString('hex')).toBe('efbbbf6e65770a');
  });

  test.each([
    ['Latin-1', '636166e90a78203d20310a'],
    ['a cut sequence', '6f6b20e2800a78203d20310a'],
    ['a NUL byte', '6100620a78203d20310a'],
    ['UTF-16', 'fffe61000a0000'],
  ])('%s → edit_file refuses, names the encoding, and the file is untouched', async (_, hex) => {
    bench.put('f.txt', Buffer.from(hex, 'hex'));
    const result = await edit('f.txt', 'x = 1', 'x = 2');
    expect(result.status).toBe('failed');
    expect(result.message).toMatch(/UTF-8|NUL bytes/u);
    expect(bench.bytes('f.txt').toString('hex')).toBe(hex);
  });

  test.each([0o755, 0o600, 0o640])('mode %s → kept by edit and overwrite', async (mode) => {
    bench.put('cb.sh', '#!/bin/sh\necho a\n');
    bench.sh(`chmod ${mode.toString(8)} cb.sh`);
    await edit('cb.sh', 'echo a', 'echo b');
    expect(statSync(join(bench.workspace, 'cb.sh')).mode & 0o7777).toBe(mode);
    await bench.call('write_file', { path: 'cb.sh', content: 'x\n' });
    expect(statSync(join(bench.workspace, 'cb.sh')).mode & 0o7777).toBe(mode);
  });

  test.each([
    [0o022, 0o644],
    [0o077, 0o600],
  ])('a new file under umask %s → mode %s', async (umask, mode) => {
    const before = process.umask(umask);
    try {
      await bench.call('write_file', { path: 'new.txt', content: 'x' });
    } finally {
      process.umask(before);
    }
    expect(statSync(join(bench.workspace, 'new.txt')).mode & 0o7777).toBe(mode);
  });

  test('mode 444 → edit and overwrite are refused and say how to go on', async () => {
    bench.put('ro.txt', 'one\n');
    bench.sh('chmod 444 ro.txt');
    for (const result of [
      await edit('ro.txt', 'one', 'two'),
      await bench.call('write_file', { path: 'ro.txt', content: '' }),
    ]) {
      expect(result).toMatchObject({ status: 'failed' });
      expect(result.message).toContain('read-only');
    }
    expect(bench.bytes('ro.txt').toString()).toBe('one\n');
    expect(readdirSync(bench.workspace)).toEqual(['ro.txt']);
  });

  test('links inside the workspace, one behind the other → the target changes, the links stay links', async () => {
    bench.put('real.md', 'one\n');
    bench.sh('ln -s real.md link.md; ln -s link.md link2.md');
    expect((await edit('link.md', 'one', 'two')).status).toBe('success');
    expect((await bench.call('write_file', { path: 'link2.md', content: 'three\n' })).details?.filesChanged).toEqual([
      'real.md',
    ]);
    expect(lstatSync(join(bench.workspace, 'link.md')).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(bench.workspace, 'link2.md')).isSymbolicLink()).toBe(true);
    expect(bench.bytes('real.md').toString()).toBe('three\n');
  });

  test('links in a circle → a clean error at once', async () => {
    bench.sh('ln -s q p; ln -s p q');
    expect((await bench.call('read_file', { path: 'p' })).message).toContain('circle of links');
    expect((await edit('p', 'a', 'b')).message).toContain('circle of links');
  });
});

describe('edit_file: exactly what was asked, or an error', () => {
  test('overlapping places → matched left to right, never twice', async () => {
    bench.put('o.txt', 'aaa\n');
    expect((await edit('o.txt', 'aa', 'b', true)).message).toBe('Replaced 1 occurrence in o.txt, at line 1.');
    expect(bench.bytes('o.txt').toString()).toBe('ba\n');
    bench.put('p.txt', 'x)\n x)\n x)\n');
    expect((await edit('p.txt', 'x)\nx)', 'y', true)).status).toBe('failed');
    expect(bench.bytes('p.txt').toString()).toBe('x)\n x)\n x)\n');
  });

  test('several places without replace_all → error with the count and the lines', async () => {
    bench.put('d.txt', 'foo\nbar\nfoo\n');
    const result = await edit('d.txt', 'foo', 'baz');
    expect(result.message).toBe(
      'old_string stands 2 times in d.txt (at lines 1, 3); nothing was changed. Add lines around it to make it unique, or set replace_all.',
    );
    expect(bench.bytes('d.txt').toString()).toBe('foo\nbar\nfoo\n');
  });

  test.each([undefined, true])('no such text (replace_all %s) → error, file unchanged', async (all) => {
    bench.put('d.txt', 'foo\nbar\n');
    expect((await edit('d.txt', 'nope', 'x', all)).status).toBe('failed');
    expect(bench.bytes('d.txt').toString()).toBe('foo\nbar\n');
  });

  test('no such text, but a similar line → says which and where', async () => {
    bench.put('d.js', 'function a() {}\nfunction total(items) {\n  return 1;\n}\n');
    expect((await edit('d.js', 'function total(item) {', 'x')).message).toContain(
      'The nearest is line 2: "function total(items) {".',
    );
    expect((await edit('d.js', '    return 1;', 'x')).message).toContain('Line 3 is "  return 1;": the same but for');
  });

  test('empty or equal strings → refused', async () => {
    bench.put('d.txt', 'foo\n');
    expect((await edit('d.txt', '', 'x')).message).toContain('old_string is empty');
    expect((await edit('d.txt', 'foo', 'foo')).message).toContain('are equal');
  });

  test('twenty edits one after the other, by two names of the file → all are in it', async () => {
    bench.put('f.txt', Array.from({ length: 20 }, (_, n) => `<${n}>\n`).join(''));
    bench.sh('ln -s f.txt g.txt');
    for (let n = 0; n < 20; n += 1) await edit(n % 2 === 0 ? './f.txt' : 'g.txt', `<${n}>`, `[${n}]`);
    expect(bench.bytes('f.txt').toString()).toBe(Array.from({ length: 20 }, (_, n) => `[${n}]\n`).join(''));
  });

  test('a change → details hold a unified diff', async () => {
    bench.put('f.txt', 'one\ntwo\n');
    expect((await edit('f.txt', 'two', 'TWO')).details).toEqual({
      filesChanged: ['f.txt'],
      diff: '--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n',
    });
  });
});

describe('write_file', () => {
  test('content missing or null → refused, names it, hints at a cut answer; the file is unchanged', async () => {
    bench.put('a.ts', 'keep\n');
    for (const input of [{ path: 'a.ts' }, { path: 'a.ts', content: null }]) {
      const result = await bench.call('write_file', input);
      expect(result.message).toBe(
        '`content` is missing; nothing was done. If the answer was cut off, send the call again, whole.',
      );
    }
    expect(bench.bytes('a.ts').toString()).toBe('keep\n');
  });

  test('content is a number → refused, names the field', async () => {
    expect((await bench.call('write_file', { path: 'a.ts', content: 42 })).message).toMatch(/`content`: .*string/u);
  });

  test('content empty → legal: 0 bytes', async () => {
    bench.put('a.ts', 'keep\n');
    expect((await bench.call('write_file', { path: 'a.ts', content: '' })).message).toBe('Replaced a.ts (0 bytes).');
    expect(bench.bytes('a.ts')).toHaveLength(0);
  });

  test('a new file in new directories → made, with a diff from nothing', async () => {
    const result = await bench.call('write_file', { path: 'a/b/c.txt', content: 'x\n' });
    expect(result.message).toBe('Created a/b/c.txt (2 bytes).');
    expect(result.details?.diff).toBe('--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,1 @@\n+x\n');
    expect(bench.bytes('a/b/c.txt').toString()).toBe('x\n');
  });

  test('content with half a character → refused', async () => {
    const result = await bench.call('write_file', { path: 'a.txt', content: 'x\ud800' });
    expect(result).toMatchObject({ status: 'failed' });
    expect(readdirSync(bench.workspace)).toEqual([]);
  });

  test('a directory, a pipe → refused', async () => {
    bench.sh('mkdir d; mkfifo live.pipe');
    expect((await bench.call('write_file', { path: 'd', content: 'x' })).message).toContain('is a directory');
    expect((await bench.call('write_file', { path: 'live.pipe', content: 'x' })).message).toContain(
      'not a regular file',
    );
    expect((await edit('live.pipe', 'a', 'b')).message).toContain('not a regular file');
  });
});

test('property: whatever is edited, every byte outside the match stays as it was', async () => {
  const piece = fc.constantFrom('a', '\n', '\r\n', ' ', '\t', 'é', '$&', '\ufeff', '"');
  const text = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(text, text, fc.constantFrom('x', 'two\nlines', '$`', ''), async (before, after, replacement) => {
      bench.put('p.txt', `${before}<HERE>${after}`);
      await bench.call('read_file', { path: 'p.txt' });
      const result = await edit('p.txt', '<HERE>', replacement);
      const bytes = bench.bytes('p.txt').toString();
      return result.status === 'success' && bytes.startsWith(before) && bytes.endsWith(after);
    }),
    { numRuns: 40 },
  );
});
