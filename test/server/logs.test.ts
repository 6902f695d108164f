import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LogEntry } from '../../src/server/log-entry';
import { formatEntry, parseEntry } from '../../src/server/log-entry';
import { followEntries, readEntries } from '../../src/server/log-reader';
import { createLogger } from '../../src/server/logger';
import { openRotatingFile } from '../../src/server/rotating-file';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';

afterAll(removeTempDirectories);

const all = () => true;
const line = (time: string, text: string, more: object = {}) =>
  `${JSON.stringify({ time: `2026-01-01T00:00:0${time}Z`, level: 'info', source: 'worker', text, ...more })}\n`;

async function logs(): Promise<{ one: string; two: string }> {
  const directory = await tempDirectory('logs');
  return { one: path.join(directory, 'one.jsonl'), two: path.join(directory, 'two.jsonl') };
}

describe('a logger', () => {
  const written: string[] = [];
  const logger = createLogger({
    source: 'worker',
    redact: (text) => text.replaceAll('hunter22', '[secret]'),
    write: (text) => written.push(text),
  });

  test('a line → one JSON object with time, level, source, text and the fields, without secrets', () => {
    logger.log('warn', 'token hunter22', { workflowId: 'w', callId: 'm-1', detail: { key: 'hunter22' }, big: 5n });
    const [text] = written.splice(0);
    expect(text).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(text ?? '')).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      source: 'worker',
      workflowId: 'w',
      callId: 'm-1',
      detail: { key: '[secret]' },
      big: 5,
      text: 'token [secret]',
    });
  });

  test('an error among the fields → its message and stack, readable', () => {
    logger.log('error', 'it broke', { runId: 'r', error: new Error('no disk') });
    const entry = parseEntry(written.splice(0)[0] ?? '');
    expect(entry).toMatchObject({ level: 'error', runId: 'r', error: { message: 'no disk' } });
    expect(formatEntry(entry as LogEntry)).toMatch(
      / error worker it broke {2}error=no disk\n {2}Error: no disk\n {6}at /,
    );
  });
});

test('an entry for people → time, level, source, run, text, fields; long values are cut', () => {
  const entry = parseEntry(line('1', 'tool start', { workflowId: 'my-run', callId: 'm-1', tool: 'bash', n: 2 }));
  expect(formatEntry(entry as LogEntry)).toBe(
    '2026-01-01T00:00:01Z info  worker my-run · tool start  callId=m-1 tool=bash n=2',
  );
  const long = parseEntry(line('1', 't', { detail: 'x'.repeat(400) }));
  expect(formatEntry(long as LogEntry)).toHaveLength('2026-01-01T00:00:01Z info  worker t  detail='.length + 301);
});

test.each(['', 'Error: at once', '{"time":"x"}', '{"time":"2026-01-01T00:00:01Z","level":"info"', 'null'])(
  '%j is no entry',
  (text) => {
    expect(parseEntry(text)).toBeUndefined();
  },
);

describe('a rotating file', () => {
  test('one that would grow over its limit → the old ones move up by one, and the fifth is dropped', async () => {
    const { one } = await logs();
    const file = openRotatingFile(one, 10);
    for (const letter of 'abcdefg') file.write(letter.repeat(8));
    file.close();
    const parts = ['', '.1', '.2', '.3', '.4'].map((end) => readFileSync(`${one}${end}`, 'utf8').charAt(0));
    expect(parts).toEqual(['g', 'f', 'e', 'd', 'c']);
    expect(existsSync(`${one}.5`)).toBe(false);
    expect(statSync(one).mode & 0o777).toBe(0o600);
  });

  test('one that is there already → goes on, its size counts', async () => {
    const { one } = await logs();
    writeFileSync(one, '12345678');
    const file = openRotatingFile(one, 10);
    file.write('9');
    file.write('ab');
    file.close();
    expect([readFileSync(`${one}.1`, 'utf8'), readFileSync(one, 'utf8')]).toEqual(['123456789', 'ab']);
  });
});

describe('entries', () => {
  test('of several logs and their rotated parts → by time, the newest so many, only those that match', async () => {
    const { one, two } = await logs();
    writeFileSync(`${one}.1`, line('1', 'a', { workflowId: 'w' }) + line('3', 'c'));
    writeFileSync(one, `${line('5', 'e', { workflowId: 'w' })}half a li`);
    writeFileSync(two, line('2', 'b') + line('4', 'd', { workflowId: 'w' }));
    const texts = (matches: (entry: LogEntry) => boolean, count: number) =>
      readEntries([one, two, `${two}-none`], matches, count).map(({ text }) => text);
    expect(texts(all, 99)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(texts(all, 2)).toEqual(['d', 'e']);
    expect(texts(({ workflowId }) => workflowId === 'w', 2)).toEqual(['d', 'e']);
    expect(texts(({ workflowId }) => workflowId === 'w', 3)).toEqual(['a', 'd', 'e']);
    expect(texts(all, 0)).toEqual([]);
  });

  test('followed → the last ones, then each new one, also across a rotation and of a file that is made later', async () => {
    const { one, two } = await logs();
    writeFileSync(one, line('1', 'a') + line('2', 'b'));
    const seen: string[] = [];
    const stop = new AbortController();
    const options = { count: 1, matches: all, signal: stop.signal };
    const following = followEntries([one, two], ({ text }) => void seen.push(text), options);
    const arrived = (expected: string) =>
      waitFor(`${expected}; seen: ${seen.join()}`, () => seen.join('') === expected);
    await arrived('b');

    const long = line('3', 'c');
    appendFileSync(one, long.slice(0, 20));
    appendFileSync(two, line('3', 'd'));
    await arrived('bd');
    appendFileSync(one, long.slice(20));
    await arrived('bdc');
    const file = openRotatingFile(one, 1);
    file.write(line('5', 'e'));
    file.write(line('6', 'f'));
    file.close();
    // Both were set aside or begun between two looks: the last one is what the file has now.
    await waitFor(`f; seen: ${seen.join()}`, () => seen.at(-1) === 'f');
    stop.abort();
    await following;
  });
});
