import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openHost } from '../../src/server/host';

let directory: string;
let home: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'surehand-host-'));
  home = path.join(directory, 'state', 'surehand');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('no state directory → it is made for this user alone, with a random id', () => {
  const { hostId, warning } = openHost(home);
  expect(hostId).toMatch(/^[a-z2-7]{12}$/);
  expect(warning).toBeUndefined();
  expect(statSync(home).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(home, 'host.json')).mode & 0o777).toBe(0o600);
  expect(openHost(path.join(directory, 'other')).hostId).not.toBe(hostId);
});

test('opened again → the same id', () => {
  expect(openHost(home, 'machine-a')).toEqual(openHost(home, 'machine-a'));
});

test('copied to another machine → a new id with a warning, once, and the old record is kept aside', () => {
  const before = openHost(home, 'machine-a');
  const after = openHost(home, 'machine-b');
  expect(after.hostId).not.toBe(before.hostId);
  expect(after.warning).toBe(
    `the state directory ${home} was made on another machine, so it is a new host here (runs of host ${before.hostId} wait for that machine).`,
  );
  expect(openHost(home, 'machine-b')).toEqual({ hostId: after.hostId });
  expect(readdirSync(home)).toContain(`host.json.${before.hostId}`);
});

test('a damaged record → a new id with a warning, and the damaged file is kept aside', () => {
  openHost(home);
  writeFileSync(path.join(home, 'host.json'), '{');
  const { hostId, warning } = openHost(home);
  expect(hostId).toMatch(/^[a-z2-7]{12}$/);
  expect(warning).toContain('is damaged');
  expect(readFileSync(path.join(home, 'host.json.damaged'), 'utf8')).toBe('{');
});
