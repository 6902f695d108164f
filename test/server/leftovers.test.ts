import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findLeftovers, removeLeftovers } from '../../src/server/leftovers';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';

afterAll(removeTempDirectories);

const NOW_MS = Date.UTC(2026, 0, 31);
const DAY_MS = 86_400_000;

/** A file of ten bytes that was last changed so many days ago, as was its directory. */
function put(file: string, daysAgo: number): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '0123456789');
  const seconds = (NOW_MS - daysAgo * DAY_MS) / 1_000;
  for (const each of [file, path.dirname(file)]) utimesSync(each, seconds, seconds);
}

const runName = (id: string) => createHash('sha256').update(id).digest('hex').slice(0, 40);

test('what no run needs is found by kind and age, and only that is removed', async () => {
  const home = await tempDirectory('home');
  const gone = [
    'logs/worker.jsonl.2',
    'logs/server.log.1',
    'daemon.json.4711-0a1b2c3d.tmp',
    'probe-AbC123/file',
    'demo/demo-old/corner-shop',
    `runs/${runName('forgotten')}/seen`,
  ];
  const kept = [
    'logs/worker.jsonl',
    'host.json',
    'host.json.abcdefghijkl',
    'calls/0123/intent.json',
    'temporal.db',
    `runs/${runName('known')}/seen`,
    'runs/README/x',
  ];
  for (const file of [...gone, ...kept]) put(path.join(home, file), 91);
  const young = ['logs/worker.jsonl.1', 'ports.json.1-00000000.tmp', 'demo/demo-new/x', `runs/${runName('new')}/seen`];
  for (const file of young) put(path.join(home, file), 0);
  utimesSync(path.join(home, 'demo', 'demo-old'), 1, 1);

  const options = { nowMs: NOW_MS, retentionMs: 90 * DAY_MS, knownRuns: () => Promise.resolve(['known']) };
  const found = await findLeftovers(home, options);
  await removeLeftovers(found);

  const names = found.map(({ kind, path: file, bytes }) => [kind, path.relative(home, file), bytes]);
  expect(names.sort()).toEqual([
    ['demo directories', 'demo/demo-old', 10],
    ['old logs', 'logs/server.log.1', 10],
    ['old logs', 'logs/worker.jsonl.2', 10],
    ['run directories', `runs/${runName('forgotten')}`, 10],
    ['temporary files', 'daemon.json.4711-0a1b2c3d.tmp', 10],
    ['temporary files', 'probe-AbC123', 10],
  ]);
  expect(gone.filter((file) => existsSync(path.join(home, file)))).toEqual([]);
  expect([...kept, ...young].filter((file) => !existsSync(path.join(home, file)))).toEqual([]);
});

test('nothing old enough → the server is not asked which runs it knows; no directory at all → nothing', async () => {
  const home = await tempDirectory('home');
  put(path.join(home, 'runs', runName('new'), 'seen'), 1);
  const knownRuns = () => Promise.reject(new Error('asked'));
  const options = { nowMs: NOW_MS, retentionMs: 90 * DAY_MS, knownRuns };
  expect(await findLeftovers(home, options)).toEqual([]);
  expect(await findLeftovers(path.join(home, 'none'), options)).toEqual([]);
});
