import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { defineSearchAttributeKey } from '@temporalio/common';
import { diagnose } from '../../../src/cli/diagnose';
import { examine } from '../../../src/cli/doctor/examine';
import { checkQueue } from '../../../src/cli/doctor/queue-checks';
import type { QueueOptions } from '../../../src/cli/doctor/queue-checks';
import { checkRuns } from '../../../src/cli/doctor/run-checks';
import { checkNamespace, checkSearchAttributes, checkServer } from '../../../src/cli/doctor/server-checks';
import { describePending } from '../../../src/cli/pending';
import type { Session } from '../../../src/cli/session';
import { loadConfig } from '../../../src/config';
import { openHost } from '../../../src/server/host';
import { openConnection } from '../../../src/temporal/open-connection';
import type { OpenedConnection } from '../../../src/temporal/open-connection';
import { createNamespace, failWorkflowTask, startRun } from '../../support/team-namespace';
import { removeTempDirectories, tempDirectory } from '../../support/temp-directory';
import { waitFor } from '../../support/wait-for';

const OPTIONS = { fix: false, command: 'surehand' };
let team: OpenedConnection;

beforeAll(async () => {
  team = await createNamespace({ days: 3 });
});

afterAll(async () => {
  await team.close();
});

describe('server', () => {
  test('it answers → ok, its version', async () => {
    await expect(checkServer('here:1', Promise.resolve(team), { timeoutMs: 5_000 })).resolves.toMatchObject({
      id: 'server',
      state: 'ok',
      detail: expect.stringMatching(/^Temporal 1\.\d+\.\d+ at here:1$/),
    });
  });

  test('one that accepts and says nothing → fail, in time, and what to do', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const opening = openConnection({ address, namespace: 'default' }, 200);
    await expect(checkServer(address, opening, { timeoutMs: 5_000 })).resolves.toMatchObject({
      state: 'fail',
      detail: expect.stringContaining(`No Temporal server is reachable at ${address}: something listens there`),
      mend: 'Start it, or correct TEMPORAL_ADDRESS.',
    });
    const never = new Promise<never>(() => undefined);
    await expect(checkServer(address, never, { timeoutMs: 50 })).resolves.toMatchObject({
      state: 'fail',
      detail: 'no answer within 0.05 s',
    });
    silent.close();
  });
});

describe('namespace', () => {
  test('a retention of 3 days → warn, with the command that raises it; 90 days → ok', async () => {
    await expect(checkNamespace(team.description, team.namespace)).resolves.toMatchObject({
      id: 'namespace',
      state: 'warn',
      detail: `${team.namespace} keeps ended runs for 3 days; 90 are advised`,
      mend: `temporal operator namespace update -n ${team.namespace} --retention 90d`,
    });
    const long = await createNamespace({ days: 90 });
    await expect(checkNamespace(long.description, 'long')).resolves.toMatchObject({
      state: 'ok',
      detail: 'long keeps ended runs for 90 days',
    });
    await long.close();
  });
});

describe('search-attributes', () => {
  const check = (fix: boolean) => checkSearchAttributes(team, { ...OPTIONS, fix });

  test('none → warn with their names; --fix registers them; then all is well', async () => {
    await expect(check(false)).resolves.toMatchObject({
      id: 'search-attributes',
      state: 'warn',
      detail:
        'not registered: SurehandState, SurehandHost, SurehandRepo, SurehandModel, SurehandTurns, SurehandCostUsd',
      mend: 'surehand doctor --fix',
    });
    await expect(check(true)).resolves.toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/^registered now: SurehandState, /),
    });
    await expect(check(false)).resolves.toMatchObject({ state: 'ok', detail: 'all are registered' });
    const { customAttributes } = await team.client.connection.operatorService.listSearchAttributes({
      namespace: team.namespace,
    });
    // KEYWORD, INT, DOUBLE of temporal.api.enums.v1.IndexedValueType
    expect(customAttributes).toMatchObject({ SurehandHost: 2, SurehandTurns: 3, SurehandCostUsd: 4 });
  });

  test('one of another type → fail, since no fix can change it', async () => {
    const other = await createNamespace({ days: 1 });
    const { client, namespace } = other;
    await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { SurehandTurns: 2 } });
    const look = () => checkSearchAttributes(other, { ...OPTIONS, fix: true });
    await expect(
      waitFor('the new attribute', async () => (await look()).state === 'fail' && look()),
    ).resolves.toMatchObject({
      detail: 'of another type than surehand writes: SurehandTurns',
      mend: expect.stringContaining('search-attribute remove'),
    });
    await other.close();
  });
});

describe('queues and runs', () => {
  const queueOptions = (queue: string): QueueOptions => ({
    queue,
    kind: 'workflow',
    why: 'w',
    mend: 'Start one.',
    build: 'b',
    unpolled: 'fail',
  });

  test('nobody polls → as bad as it is said to be; a worker → who, and when; one gone for long → as nobody', async () => {
    const queue = `queue-${randomUUID()}`;
    await expect(checkQueue(team.client, queueOptions(queue))).resolves.toMatchObject({
      id: `queue:${queue}:workflow`,
      state: 'fail',
      detail: `no worker takes workflow tasks from ${queue}`,
      mend: 'Start one.',
    });
    await startRun(team.client, randomUUID(), queue);
    await failWorkflowTask(team.client, queue, { cause: 'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND', message: '' });
    await expect(checkQueue(team.client, queueOptions(queue))).resolves.toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/: workflow tasks are taken by surehand@elsewhere#1 \(asked (now|\d+ s ago)\)$/),
    });
    const later = { ...queueOptions(queue), now: Date.now() + 80_000 };
    await expect(checkQueue(team.client, later)).resolves.toMatchObject({ state: 'fail' });
  });

  test('a run that the worker cannot replay → fail: the run, the cause and the worker, in doctor and when attached', async () => {
    const [stuck, fine, queue] = [`stuck-${randomUUID()}`, `fine-${randomUUID()}`, `queue-${randomUUID()}`];
    const fineQueue = `${queue}-2`;
    await startRun(team.client, stuck, queue);
    await startRun(team.client, fine, fineQueue);
    await failWorkflowTask(team.client, queue, {
      cause: 'WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR',
      message: 'Nondeterminism error: Activity type\nmismatch',
    });
    // New input came while the task ran, which every run meets now and then.
    await failWorkflowTask(team.client, fineQueue, {
      cause: 'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND',
      message: 'UnhandledCommand',
    });
    const found = await waitFor('both in the index', async () => {
      const { checks } = await checkRuns(team.client, OPTIONS);
      return /^[2-9] open runs/.test(checks[0]?.detail ?? '') && checks.length > 1 && checks;
    });
    expect(found[0]).toMatchObject({ id: 'runs', state: 'fail', detail: expect.stringMatching(/, 1 of them stuck$/) });
    expect(found.slice(1)).toEqual([
      {
        id: `run:${stuck}`,
        state: 'fail',
        detail: `${stuck} is stuck: its workflow task failed 2 times (NON_DETERMINISTIC_ERROR: Nondeterminism error: Activity type mismatch)`,
        why: 'A run whose workflow task fails is tried over and over and never goes on by itself.',
        mend: `The build of the worker surehand@elsewhere#1 cannot replay it. Start a worker of the build that it began with, or end it: surehand abandon ${stuck}`,
      },
    ]);
    const pending = await describePending({ client: team.client } as Session, stuck);
    const often = { ...pending, workflowTask: { attempt: 7, scheduledAt: Date.now() - 60_000, started: false } };
    await expect(diagnose({ client: team.client } as Session, often, OPTIONS)).resolves.toMatch(
      /^The run is stuck: its workflow task failed 7 times \(NON_DETERMINISTIC_ERROR: .*\)\. The build of the worker /,
    );
  });

  test.each([
    ['WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES', /is not registered. Mend it: surehand doctor --fix$/],
    ['WORKFLOW_TASK_FAILED_CAUSE_PAYLOADS_TOO_LARGE', /too large for the server/],
    [
      'WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE',
      /log of the worker surehand@elsewhere#1 says more/,
    ],
  ] as const)('a run that fails by %s → fail, and what that means', async (cause, mend) => {
    const [workflowId, queue] = [`stuck-${randomUUID()}`, `queue-${randomUUID()}`];
    await startRun(team.client, workflowId, queue);
    await failWorkflowTask(team.client, queue, { cause, message: 'so it is' });
    const found = await waitFor('it in the index', async () => {
      const { checks } = await checkRuns(team.client, OPTIONS);
      return checks.find(({ id }) => id === `run:${workflowId}`);
    });
    expect(found).toMatchObject({ state: 'fail', mend: expect.stringMatching(mend) });
  });
});

test('the whole on a cluster: no worker → fail for both queues; a run whose host is away → warn, which host and what to do', async () => {
  const directory = await tempDirectory('doctor');
  const home = path.join(directory, 'home');
  const { hostId } = openHost(home);
  writeFileSync(path.join(directory, 'settings.json'), '{}');
  const config = loadConfig({
    PATH: process.env['PATH'],
    SUREHAND_HOME: home,
    SUREHAND_SETTINGS: path.join(directory, 'settings.json'),
    SUREHAND_SANDBOX: 'off',
    SUREHAND_QUEUE_PREFIX: 'team',
    TEMPORAL_ADDRESS: process.env['SUREHAND_TEST_TEMPORAL'],
    TEMPORAL_NAMESPACE: team.namespace,
  });
  const workflowId = randomUUID();
  await waitFor('the attribute', () =>
    team.client.workflow
      .start('agentWorkflow', {
        ...{ workflowId, taskQueue: 'team', args: [{}] },
        typedSearchAttributes: [{ key: defineSearchAttributeKey('SurehandHost', 'KEYWORD'), value: 'away23' }],
      })
      .then(() => true),
  );
  const id = 'queue:team-host-away23:activity';
  const checks = await waitFor('the run in the index', async () => {
    const found = await examine(config, { ...OPTIONS, build: 'b', nodeVersion: '20.19.0', model: false });
    return found.some((check) => check.id === id) && found;
  });
  const failed = checks.filter(({ state, id: name }) => state === 'fail' && name.startsWith('queue:'));
  expect(failed.map((check) => [check.id, check.mend])).toEqual([
    ['queue:team:workflow', 'Start one: surehand worker'],
    [`queue:team-host-${hostId}:activity`, 'Start one: surehand worker'],
  ]);
  expect(checks.find((check) => check.id === id)).toEqual({
    id,
    state: 'warn',
    detail: 'no worker takes steps from team-host-away23',
    why: '1 open run has its workspace on the host away23.',
    mend: 'Start surehand worker there, or end what waits for it: surehand list --open',
  });
  expect(checks.map((check) => check.id)).not.toContain('daemon');
  await removeTempDirectories();
});
