import { closeSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lastLogLines, logSize, openLog } from '../../src/server/log-file';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'surehand-log-'));
  file = path.join(directory, 'x.log');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a log over 5 MB → it is set aside at the next start; a smaller one goes on', () => {
  writeFileSync(file, 'x'.repeat(5 * 1024 * 1024));
  closeSync(openLog(file));
  expect(statSync(file).size).toBe(5 * 1024 * 1024);
  writeFileSync(file, 'x'.repeat(5 * 1024 * 1024 + 1));
  closeSync(openLog(file));
  expect(statSync(file).size).toBe(0);
  expect(statSync(`${file}.1`).size).toBe(5 * 1024 * 1024 + 1);
});

test('the last lines since a position → only new ones, without blank ones', () => {
  writeFileSync(file, 'old\n');
  const from = logSize(file);
  expect(lastLogLines(file, 2, from)).toEqual([]);
  writeFileSync(file, 'old\none\n\ntwo\nthree\n');
  expect(lastLogLines(file, 2, from)).toEqual(['two', 'three']);
  expect(lastLogLines(file, 9, from)).toEqual(['one', 'two', 'three']);
});

test('a log that was set aside meanwhile → its lines are all new', () => {
  writeFileSync(file, 'a\n');
  expect(lastLogLines(file, 5, 1_000)).toEqual(['a']);
});

test('no log → no lines', () => {
  expect(lastLogLines(file, 5)).toEqual([]);
  expect(logSize(file)).toBe(0);
});
