import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LeaseKeeper } from '../../src/activities/lease-keeper';
import { createWorlds } from '../../src/activities/run-world';
import { createWorkspaces } from '../../src/activities/workspaces';
import { findBwrap } from '../support/bwrap';
import { runInput } from '../support/run-input';
import { createToolBench } from '../tools/tool-bench';
import type { ToolBench } from '../tools/tool-bench';

const HOLDER = { workflowId: 'bench', firstRunId: 'first' };

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
});
afterEach(() => {
  bench.close();
});

function open() {
  const given: string[] = [];
  const worldOf = createWorlds({
    stateDirectory: bench.state,
    sandbox: { mode: 'strict', detail: 'test' },
    bwrapPath: findBwrap(),
    nodePath: process.execPath,
    demoRoot: '/none',
  });
  const keeper: LeaseKeeper = {
    take: async (workspace, holder) => {
      await worldOf(workspace).changes.begin(holder);
      return undefined;
    },
    takeFor: () => Promise.resolve(undefined),
    giveBack: (workspace) => {
      given.push(workspace);
      return Promise.resolve();
    },
  };
  const input = { ...runInput(), workspace: bench.workspace };
  return { input, given, workspaces: createWorkspaces({ keeper, worldOf, stateDirectory: bench.state }) };
}

test('the end of a run → its background commands end, what changed is told, the workspace is given back', async () => {
  const { input, given, workspaces } = open();
  bench.put('f.txt', 'one\n');
  const facts = await workspaces.prepare(input, HOLDER, new AbortController().signal);
  expect(facts.sandbox).toEqual({ mode: 'strict', detail: 'test' });
  await bench.call('bash', { command: 'while :; do touch alive; sleep 0.02; done', background: true });
  await bench.call('bash', { command: 'echo two > f.txt' });
  // A chat that waits keeps the workspace as long as something of it runs there.
  expect(await workspaces.finish(input, HOLDER, { pause: true })).toEqual({});
  expect(given).toEqual([]);
  expect(await workspaces.finish(input, HOLDER, { pause: false })).toEqual({ filesChanged: ['alive', 'f.txt'] });
  expect(given).toEqual([bench.workspace]);
  bench.sh('rm alive');
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(existsSync(join(bench.workspace, 'alive'))).toBe(false);
});

test('a workspace that is gone → the lease is given back all the same', async () => {
  const { input, given, workspaces } = open();
  expect(await workspaces.finish({ ...input, workspace: '/no/such' }, HOLDER, { pause: false })).toEqual({});
  expect(given).toEqual(['/no/such']);
});
