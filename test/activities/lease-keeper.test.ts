import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createLeaseKeeper, type LeaseKeeper } from '../../src/activities/lease-keeper';
import { openHost, readHost } from '../../src/server/host';
import { connectClient, type TemporalClient } from '../../src/temporal/connection';
import { createCommandRunner } from '../../src/workspace/command-runner';
import { createWorkspaceLeases } from '../../src/workspace/lease';
import { findBwrap } from '../support/bwrap';
import { isAlive } from '../support/processes';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';
import { suiteAddress } from '../support/test-worker';
import { waitFor } from '../support/wait-for';

let temporal: TemporalClient;
let root: string;
let workspace: string;
beforeAll(async () => {
  temporal = await connectClient({ address: suiteAddress(), namespace: 'default' });
});
beforeEach(async () => {
  root = await tempDirectory('lease-keeper');
  workspace = await tempDirectory('workspace');
});
afterEach(removeTempDirectories);
afterAll(() => temporal.close());

/** A worker with a state directory of its own; all of one user share the leases. */
function keeperOf(name: string, options: { readonly daemons?: Readonly<Record<string, string>> } = {}): LeaseKeeper {
  const { daemons = {} } = options;
  return createLeaseKeeper({
    client: temporal.client,
    leases: createWorkspaceLeases(path.join(root, 'leases')),
    place: {
      home: homeOf(name),
      hostId: openHost(homeOf(name)).hostId,
      server: { embedded: true, address: suiteAddress(), namespace: 'default' },
    },
    directories: {
      hostIdOf: (home) => readHost(home)?.hostId,
      daemonOf: (home) => {
        const address = daemons[path.basename(home)];
        return address === undefined ? undefined : { address, namespace: 'default' };
      },
    },
  });
}

const homeOf = (name: string): string => path.join(root, name);

/** A run that is open as long as nobody terminates it: no worker serves its queue. */
async function startRun() {
  const workflowId = `lease-${randomUUID()}`;
  const handle = await temporal.client.workflow.start('agentWorkflow', { workflowId, taskQueue: workflowId });
  const runId = handle.firstExecutionRunId;
  return {
    workflowId,
    runId,
    holder: { workflowId, firstRunId: runId },
    end: async () => {
      await handle.terminate();
    },
  };
}

test('the holder is a run of the same server → named while it is open, followed when it is closed', async () => {
  const keeper = keeperOf('home');
  const [first, second] = await Promise.all([startRun(), startRun()]);

  expect(await keeper.take(workspace, first.holder)).toBeUndefined();
  expect(await keeper.take(workspace, second.holder)).toBe(
    `${workspace} is being changed by the run ${first.workflowId}; wait for it, or end it with \`surehand cancel ${first.workflowId}\``,
  );
  await first.end();

  expect(await keeper.take(workspace, second.holder)).toBeUndefined();
});

test('the holder is of another state directory whose server is down → named with it, until that directory is gone', async () => {
  const holder = { workflowId: 'elsewhere', firstRunId: 'elsewhere-1' };
  const own = await startRun();
  await keeperOf('other').take(workspace, holder);

  // This worker's own server does not know that run, which says nothing.
  expect(await keeperOf('home').take(workspace, own.holder)).toBe(
    `${workspace} is being changed by the run elsewhere (of the state directory ${homeOf('other')}); wait for it, or end it with \`SUREHAND_HOME=${homeOf('other')} surehand cancel elsewhere\``,
  );
  rmSync(homeOf('other'), { recursive: true });

  expect(await keeperOf('home').take(workspace, own.holder)).toBeUndefined();
});

test('the other state directory was made anew → its old run is served by nobody, so the workspace is free', async () => {
  await keeperOf('other').take(workspace, { workflowId: 'elsewhere', firstRunId: 'elsewhere-1' });
  rmSync(homeOf('other'), { recursive: true });
  openHost(homeOf('other'));

  expect(await keeperOf('home').take(workspace, { workflowId: 'own', firstRunId: 'own-1' })).toBeUndefined();
});

test('the server of the other state directory is up → it is asked, and believed', async () => {
  const run = await startRun();
  await keeperOf('other').take(workspace, run.holder);
  const own = { workflowId: 'own', firstRunId: 'own-1' };
  const keeper = keeperOf('home', { daemons: { other: suiteAddress() } });

  expect(await keeper.take(workspace, own)).toContain(run.workflowId);
  await run.end();

  expect(await keeperOf('home', { daemons: { other: '127.0.0.1:9' } }).take(workspace, own)).toContain(run.workflowId);
  expect(await keeper.take(workspace, own)).toBeUndefined();
});

async function startCommand(home: string, workflowId: string) {
  const options = { stateDirectory: homeOf(home), workspace, nodePath: process.execPath };
  const runner = createCommandRunner({ ...options, sandbox: { mode: 'strict', bwrapPath: findBwrap() } });
  const command = await runner.start({
    callId: `${workflowId}\nm-1`,
    command: 'touch begun; sleep 300',
    timeoutMs: 60_000,
  });
  await waitFor('the command', () => existsSync(path.join(workspace, 'begun')));
  const [supervisor] = readFileSync(path.join(path.dirname(command.outputFile), 'supervisor'), 'utf8').split(' ');
  return { stop: () => runner.stop(command, 'cancelled'), lives: () => isAlive(Number(supervisor)) };
}

test('the holder was terminated and a command of it runs on → that is ended before the next run begins', async () => {
  const run = await startRun();
  const keeper = keeperOf('home');
  await keeper.take(workspace, run.holder);
  const command = await startCommand('home', run.workflowId);
  await run.end();

  expect(await keeper.take(workspace, { workflowId: 'own', firstRunId: 'own-1' })).toBeUndefined();
  expect(command.lives()).toBe(false);
});

test('the state directory of the holder was removed under its command → that is ended before the next run begins', async () => {
  await keeperOf('other').take(workspace, { workflowId: 'elsewhere', firstRunId: 'elsewhere-1' });
  const command = await startCommand('other', 'elsewhere');
  rmSync(homeOf('other'), { recursive: true });

  expect(await keeperOf('home').take(workspace, { workflowId: 'own', firstRunId: 'own-1' })).toBeUndefined();
  expect(command.lives()).toBe(false);
});

test('the holder is over on another server that lives, and a command of it runs → busy until its own worker has ended it', async () => {
  const run = await startRun();
  await keeperOf('other').take(workspace, run.holder);
  const command = await startCommand('other', run.workflowId);
  await run.end();
  const keeper = keeperOf('home', { daemons: { other: suiteAddress() } });
  const own = { workflowId: 'own', firstRunId: 'own-1' };

  expect(await keeper.take(workspace, own)).toContain(run.workflowId);
  await command.stop();

  expect(await keeper.take(workspace, own)).toBeUndefined();
});

test('a run that gave its workspace back → takes it again before a change, unless another has it meanwhile', async () => {
  const keeper = keeperOf('home');
  const [chat, other] = await Promise.all([startRun(), startRun()]);
  await keeper.take(workspace, chat.holder);
  await keeper.giveBack(workspace, chat.holder);
  await keeper.take(workspace, other.holder);

  expect(await keeper.takeFor(workspace, chat)).toContain(other.workflowId);
  await keeper.giveBack(workspace, other.holder);

  expect(await keeper.takeFor(workspace, chat)).toBeUndefined();
  // As the holder that the workflow names: the first run of its chain.
  expect(await keeper.take(workspace, chat.holder)).toBeUndefined();
  expect(await keeper.take(workspace, other.holder)).toContain(chat.workflowId);
});
