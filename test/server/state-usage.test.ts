import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openHost } from '../../src/server/host';
import { removeCalls, stateUsage, type StoredCall } from '../../src/server/state-usage';
import { createCallJournal } from '../../src/workspace/call-journal';
import { createCommandRunner } from '../../src/workspace/command-runner';
import { createWorkspaceFiles } from '../../src/workspace/files';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';

afterEach(removeTempDirectories);

async function setUp() {
  const home = path.join(await tempDirectory('state'), 'home');
  const workspace = await tempDirectory('workspace');
  openHost(home);
  const files = createWorkspaceFiles(workspace);
  const sandbox = { mode: 'off' } as const;
  const runner = createCommandRunner({ stateDirectory: home, workspace, sandbox, nodePath: process.execPath });
  const journal = createCallJournal<string>({ stateDirectory: home, server: 'embedded', files, runner });
  return { home, journal, calls: path.join(home, 'calls') };
}

test('expired calls → removed with their files; whose they are is told, and what is no call is left alone', async () => {
  const { home, journal, calls } = await setUp();
  await journal.begin('run-a\nm-1', { tool: 'write_file', kind: 'file', digest: 'v1:0' });
  await journal.begin('run-b\nm-1', { tool: 'bash', kind: 'command', digest: 'v1:0' });
  mkdirSync(path.join(calls, 'crashed'));
  mkdirSync(path.join(calls, 'removing-interrupted'));
  const asked: StoredCall[] = [];

  const removed = await removeCalls(home, (call) => {
    asked.push(call);
    return call.workflowId === 'run-a';
  });

  expect(asked.map(({ hasEntry, workflowId, server }) => ({ hasEntry, workflowId, server }))).toEqual(
    expect.arrayContaining([
      { hasEntry: true, workflowId: 'run-a', server: 'embedded' },
      { hasEntry: true, workflowId: 'run-b', server: 'embedded' },
      { hasEntry: false, workflowId: undefined, server: undefined },
    ]),
  );
  expect(asked).toHaveLength(3);
  expect(removed.calls).toBe(1);
  expect(removed.bytes).toBeGreaterThan(100);
  expect(await journal.lookup('run-a\nm-1')).toEqual({ state: 'none' });
  expect((await journal.lookup('run-b\nm-1')).state).toBe('owned');
  // The mark of the host, the other run's call, what a crash left.
  expect(readdirSync(calls)).toHaveLength(3);
});

test('sizes → by kind, largest first; no directory → none', async () => {
  const { home } = await setUp();
  writeFileSync(path.join(home, 'temporal.db'), Buffer.alloc(5_000));
  writeFileSync(path.join(home, 'temporal.db-wal'), Buffer.alloc(1_000));
  mkdirSync(path.join(home, 'logs'), { recursive: true });
  writeFileSync(path.join(home, 'logs', 'worker.log'), Buffer.alloc(3_000));

  const usage = await stateUsage(home);

  expect(usage.slice(0, 2)).toEqual([
    { part: 'history', bytes: 6_000, files: 2 },
    { part: 'logs', bytes: 3_000, files: 1 },
  ]);
  expect(usage.map(({ part }) => part).sort()).toEqual(['calls', 'history', 'logs', 'other']);
  expect(await stateUsage(path.join(home, 'nowhere'))).toEqual([]);
});
