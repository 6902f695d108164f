import { createToolBench } from './tool-bench';
import type { ToolBench } from './tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
});
afterEach(() => {
  bench.close();
});

describe('read_file', () => {
  test('a text file → numbered lines, without the ending', async () => {
    bench.put('a.txt', 'one\n\nthree');
    expect((await bench.call('read_file', { path: 'a.txt' })).message).toBe('1\tone\n2\t\n3\tthree');
  });

  test('offset and limit → that window, and how to read on', async () => {
    bench.put('a.txt', Array.from({ length: 10 }, (_, n) => `l${n + 1}\n`).join(''));
    expect((await bench.call('read_file', { path: 'a.txt', offset: 3, limit: 2 })).message).toBe(
      '3\tl3\n4\tl4\n(Lines 3-4 of 10 are shown. Read on with offset 5.)',
    );
  });

  test('more than 2,000 lines → cut there, and following the advice ends', async () => {
    bench.put('a.txt', Array.from({ length: 4500 }, (_, n) => `${n + 1}\n`).join(''));
    const seen: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined;) {
      const { message }: { message: string } = await bench.call('read_file', { path: 'a.txt', offset });
      seen.push(...message.split('\n').filter((line) => !line.startsWith('(')));
      offset =
        /Read on with offset (\d+)/u.exec(message)?.[1] === undefined
          ? undefined
          : Number(/offset (\d+)/u.exec(message)![1]);
    }
    expect(seen).toHaveLength(4500);
    expect(seen.at(-1)).toBe('4500\t4500');
  });

  test('lines that do not fit into the result → cut at a line, and how to read on', async () => {
    bench.put('a.txt', `${'x'.repeat(99)}\n`.repeat(100));
    const { message } = await bench.call('read_file', { path: 'a.txt' }, { maxBytes: 2000 });
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(2000);
    expect(message).toMatch(/\(Lines 1-13 of 100 are shown\. Read on with offset 14\.\)$/u);
  });

  test.each([
    ['ASCII', `{"k":"${'a'.repeat(32_000)}"}`],
    ['two-byte characters', 'é'.repeat(16_001)],
    ['CRLF', `${'a'.repeat(20_000)}\r`],
  ])('one huge line of %s → following the advice shows all of it once, and ends', async (_, line) => {
    bench.put('one.json', `before\n${line}\nafter\n`);
    let shown = '';
    let note = 'offset 2';
    for (let reads = 0; reads < 10 && !note.includes('That is its end.'); reads += 1) {
      const [, offset, byte] = /offset (\d+)(?: and byte (\d+))?/u.exec(note)!;
      const input = { path: 'one.json', offset: Number(offset), ...(byte === undefined ? {} : { byte: Number(byte) }) };
      const { message } = await bench.call('read_file', input, { maxBytes: 10_000 });
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(10_000);
      const [text, sentence] = message.split('\n') as [string, string];
      shown += text.slice(2);
      note = sentence;
    }
    expect(shown).toBe(line.replace('\r', ''));
    expect(note).toContain('That is its end. The next line: offset 3.');
    expect((await bench.call('read_file', { path: 'one.json', offset: 3 })).message).toBe('3\tafter');
  });

  test('byte past the end of the line → an error that names its size; within a character → begins at the next one', async () => {
    bench.put('a.txt', 'é\n');
    expect((await bench.call('read_file', { path: 'a.txt', byte: 4 })).message).toBe(
      'Line 1 of a.txt has 2 bytes; byte 4 is past its end.',
    );
    bench.put('b.txt', 'éx\n');
    expect((await bench.call('read_file', { path: 'b.txt', byte: 2 })).message).toContain('1\tx\n');
  });

  test('offset past the end → error that names the line count', async () => {
    bench.put('a.txt', 'one\ntwo\n');
    expect(await bench.call('read_file', { path: 'a.txt', offset: 3 })).toMatchObject({
      status: 'failed',
      message: 'a.txt has 2 lines; offset 3 is past its end.',
    });
  });

  test('an empty file → says so', async () => {
    bench.put('a.txt', '');
    expect(await bench.call('read_file', { path: 'a.txt' })).toMatchObject({
      status: 'success',
      message: 'a.txt is empty (0 bytes).',
    });
  });

  test('an image → binary, not shown; judged by its bytes', async () => {
    bench.put('a.txt', Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
    expect((await bench.call('read_file', { path: 'a.txt' })).message).toBe(
      'a.txt is binary (PNG image, 12 bytes) and is not shown.',
    );
  });

  test('Latin-1 → shown, and says that it is', async () => {
    bench.put('a.txt', Buffer.from('636166e90a', 'hex'));
    expect((await bench.call('read_file', { path: 'a.txt' })).message).toContain('1\tcafé\n(It is not UTF-8');
  });

  test('pipe, device, socket, directory → each refused at once', async () => {
    bench.sh(`mkfifo live.pipe; ln -s /dev/zero z; mkdir d
      python3 -c "import socket;socket.socket(socket.AF_UNIX).bind('s.sock')"`);
    expect((await bench.call('read_file', { path: 'live.pipe' })).message).toContain('not a regular file');
    expect((await bench.call('read_file', { path: 's.sock' })).message).toContain('not a regular file');
    expect((await bench.call('read_file', { path: 'z' })).message).toContain('outside the workspace');
    expect((await bench.call('read_file', { path: 'd' })).message).toContain('is a directory');
  });

  test('a missing file → says what to do', async () => {
    expect((await bench.call('read_file', { path: 'no/such.txt' })).message).toBe(
      '"no/such.txt" does not exist. Use list_files or glob to find the right path.',
    );
  });
});

describe('list_files', () => {
  test('a directory → sorted, with kinds and sizes, hidden files too, control characters visible', async () => {
    bench.sh(String.raw`mkdir b; printf 12345 > .a; ln -s b c; mkfifo d; touch $'e\x1b[2J'`);
    expect((await bench.call('list_files', {})).message).toBe('.a  5\nb/\nc@\nd  (not a regular file)\ne\\x1b[2J  0');
  });

  test('more entries than are shown → the rest is counted', async () => {
    bench.sh('mkdir many; cd many; touch $(seq -w 1 1203)');
    expect((await bench.call('list_files', { path: 'many' })).message).toMatch(/\n\(203 more entries are not shown\./u);
  });
});

describe('grep and glob', () => {
  test('links that form circles → each file once', async () => {
    bench.sh('mkdir 1 2; echo needle > 1/a.txt; ln -s ../ 1/loop; ln -s ../ 2/loop; ln -s . self');
    expect((await bench.call('glob', { pattern: '**/*.txt' })).message).toBe('1/a.txt');
    expect((await bench.call('grep', { pattern: 'needle' })).message).toBe('1/a.txt:1:needle');
  });

  test.each([['--pre=./x.sh'], ['-world'], ['->'], ['--help']])(
    'pattern %s → text, never an option',
    async (pattern) => {
      bench.sh(String.raw`printf '#!/bin/sh\ntouch P\ncat "$1"\n' > x.sh; chmod +x x.sh
      printf 'a->b\n-world\n--help\n--pre=./x.sh\n' > t.txt`);
      const inFile = await bench.call('grep', { pattern, path: 't.txt' });
      const everywhere = await bench.call('grep', { pattern, path: '.' });
      const lines = ['a->b', '-world', '--help', '--pre=./x.sh'];
      const at = lines.findIndex((line) => line.includes(pattern));
      expect(inFile.message).toBe(`t.txt:${at + 1}:${lines[at]}`);
      expect(everywhere.message).toBe(inFile.message);
      expect(bench.sh('ls')).not.toContain('P\n');
    },
  );

  test.each(['(', '[a', '*x', 'a{2,1}'])('bad pattern %s → an error, not "no matches"', async (pattern) => {
    bench.put('a.txt', 'x\n');
    const result = await bench.call('grep', { pattern });
    expect(result.status).toBe('failed');
    expect(result.message).toMatch(/^The search failed: .*regex/su);
  });

  test('no match, missing path, NUL in a path → told apart', async () => {
    bench.put('a.txt', 'x\n');
    expect(await bench.call('grep', { pattern: 'zzz' })).toMatchObject({ status: 'success', message: 'No matches.' });
    expect(await bench.call('grep', { pattern: 'x', path: 'no/such' })).toMatchObject({ status: 'failed' });
    expect(await bench.call('grep', { pattern: 'x', path: 'a\0b' })).toMatchObject({ status: 'failed' });
  });

  test.each(['[', '{a'])('odd glob %s → an error, not "no files"', async (pattern) => {
    bench.put('a.txt', 'x\n');
    expect(await bench.call('glob', { pattern })).toMatchObject({ status: 'failed' });
  });

  test('what git ignores and .git → left out, also when a glob names them', async () => {
    bench.sh(`git init -q; mkdir -p sub node_modules/m; echo node_modules > .gitignore; echo '*.log' >> .gitignore
      echo hit > node_modules/m/a.js; echo hit > sub/a.js; echo hit > sub/b.log; echo hit > .hidden; echo hit > .git/hit`);
    expect((await bench.call('grep', { pattern: 'hit' })).message).toBe('.hidden:1:hit\nsub/a.js:1:hit');
    expect((await bench.call('grep', { pattern: 'hit', glob: '**/*' })).message).toBe('.hidden:1:hit\nsub/a.js:1:hit');
    expect((await bench.call('grep', { pattern: 'hit', path: 'sub' })).message).toBe('sub/a.js:1:hit');
    expect((await bench.call('glob', { pattern: '**/*' })).message).toBe('.gitignore\n.hidden\nsub/a.js');
    expect((await bench.call('glob', { pattern: '.git/**' })).message).toBe('No files match.');
  });

  test('a glob with a directory → relative to it', async () => {
    bench.sh('mkdir -p "a[1]/src" src; touch "a[1]/src/x.ts" "a[1]/y.ts" src/z.ts');
    expect((await bench.call('glob', { pattern: 'src/*.ts' })).message).toBe('src/z.ts');
    expect((await bench.call('glob', { pattern: 'src/*.ts', path: 'a[1]' })).message).toBe('a[1]/src/x.ts');
    expect((await bench.call('glob', { pattern: '*.ts', path: 'a[1]' })).message).toBe('a[1]/src/x.ts\na[1]/y.ts');
  });

  test('pipes and binaries in the tree → skipped', async () => {
    bench.sh(String.raw`mkfifo live.pipe; printf 'x\0x' > bin; echo x > a.txt`);
    expect((await bench.call('grep', { pattern: 'x' })).message).toBe('a.txt:1:x');
  });

  test('more matches than are shown → the rest is counted', async () => {
    bench.sh('seq 1 1300 > n.txt');
    expect((await bench.call('grep', { pattern: '.' })).message).toMatch(
      /\n\(800 more matching lines are not shown\./u,
    );
  });

  test('a search that is aborted at any moment → throws the reason, and nothing of it is left', async () => {
    bench.sh('seq 1 200000 > n.txt');
    for (let afterMs = 0; afterMs < 40; afterMs += 2) {
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort('detach'), afterMs);
      await bench.call('grep', { pattern: '1' }, { signal: abort.signal }).catch((reason: unknown) => {
        expect(reason).toBe('detach');
      });
      clearTimeout(timer);
    }
    expect(
      bench
        .sh('ps -eo args')
        .split('\n')
        .filter((line) => line.includes(bench.workspace)),
    ).toEqual([]);
  });

  test('a search that is aborted → throws the reason', async () => {
    const abort = new AbortController();
    abort.abort('detach');
    await expect(bench.call('grep', { pattern: 'x' }, { signal: abort.signal })).rejects.toBe('detach');
  });
});
