import { Readable, Writable } from 'node:stream';
import { CliError } from '../../src/cli/cli-error';
import type { IoStreams } from '../../src/cli/io';
import { createIo } from '../../src/cli/io';

class Collector extends Writable {
  text = '';
  constructor(
    readonly isTTY: boolean,
    readonly columns = 80,
    private readonly failure?: Error,
  ) {
    super();
  }
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.text += chunk.toString();
    done(this.failure);
  }
}

function streams(stderr: Collector, stdout = new Collector(false)): IoStreams {
  return { stdin: Readable.from([]), stdout, stderr };
}

test('a terminal: the last line is replaced, and lines go above it', () => {
  const stderr = new Collector(true);
  const io = createIo({}, streams(stderr));
  io.status('working');
  io.say('a step');
  io.status('more');
  io.status(undefined);
  expect(stderr.text).toBe('working\r\u001b[2Ka step\nmore\r\u001b[2K');
  expect(io.colors.red('x')).toBe('\u001b[31mx\u001b[39m');
});

test('a terminal: several last lines are replaced together', () => {
  const stderr = new Collector(true);
  const io = createIo({}, streams(stderr));
  io.status('one\ntwo\nthree');
  io.say('a step');
  expect(stderr.text).toBe('one\ntwo\nthree\r\u001b[2K\u001b[1A\u001b[2K\u001b[1A\u001b[2Ka step\n');
});

test.each([
  ['a file or pipe', {}, false],
  ['a dumb terminal', { TERM: 'dumb' }, true],
])('%s: no last line, no colours', (_name, env, isTTY) => {
  const stderr = new Collector(isTTY);
  const io = createIo(env, streams(stderr));
  io.status('working');
  io.say('a step');
  expect([stderr.text, io.colors.red('x'), io.isTerminal]).toEqual(['a step\n', 'x', false]);
});

test('NO_COLOR: a terminal without colours', () => {
  const io = createIo({ NO_COLOR: '1' }, streams(new Collector(true)));
  expect([io.isTerminal, io.colors.red('x')]).toEqual([true, 'x']);
});

test.each([
  [0, 100],
  [10, 40],
  [120, 120],
])('a terminal that says it has %d columns → %d', (columns, width) => {
  expect(createIo({}, streams(new Collector(true, columns))).width).toBe(width);
});

test.each([
  ['a reader that has gone', 'EPIPE', ''],
  ['a full disk', 'ENOSPC', 'The output cannot be written (ENOSPC).'],
])('%s → CliError with exit code 1, message "%s"', async (_name, code, message) => {
  const stdout = new Collector(false, 80, Object.assign(new Error('write'), { code }));
  const failure = createIo({}, streams(new Collector(false), stdout)).write('{}');
  await expect(failure).rejects.toMatchObject({ exitCode: 1, message });
  await expect(failure).rejects.toBeInstanceOf(CliError);
});
