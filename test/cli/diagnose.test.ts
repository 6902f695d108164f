import { randomUUID } from 'node:crypto';
import { diagnose } from '../../src/cli/diagnose';
import type { Pending } from '../../src/cli/pending';
import { describePending } from '../../src/cli/pending';
import type { Session } from '../../src/cli/session';
import type { TemporalClient } from '../../src/temporal/connection';
import { runInput } from '../support/run-input';
import type { TestWorker } from '../support/test-worker';
import { startTestWorker } from '../support/test-worker';

const SOON_MS = 3_000;
const LATER_MS = 20_000;

let temporal: TemporalClient;
let worker: TestWorker;

beforeAll(async () => {
  worker = await startTestWorker();
  temporal = worker.temporal;
});

afterAll(async () => {
  await worker.stop();
});

function session(queue: string): Session {
  return {
    client: temporal.client,
    namespace: 'default',
    embedded: false,
    hostId: 'h',
    hostQueue: queue,
    workflowQueue: queue,
    uiLink: () => undefined,
    keepAlive: () => Promise.resolve(false),
  };
}

async function startUnserved(): Promise<{ readonly queue: string; readonly pending: Pending }> {
  const queue = `nobody-${randomUUID()}`;
  const workflowId = randomUUID();
  await temporal.client.workflow.start('agentWorkflow', { workflowId, taskQueue: queue, args: [runInput()] });
  return { queue, pending: await describePending(session(queue), workflowId) };
}

const at = (ms: number) => ({ command: 'surehand', now: Date.now() + ms });
const waiting = (pending: Partial<Pending>): Pending => ({
  workflowId: 'w',
  runId: 'r',
  open: true,
  taskQueue: worker.queue,
  activities: [{ activityId: 'tool-1.1', started: false, attempt: 1, scheduledAt: Date.now() }],
  ...pending,
});

test('a run that nobody takes: nothing is said at first, then which queue and what to start', async () => {
  const { queue, pending } = await startUnserved();
  expect(pending).toMatchObject({ open: true, taskQueue: queue, workflowTask: { attempt: 1, started: false } });
  await expect(diagnose(session(queue), pending, at(SOON_MS))).resolves.toBeUndefined();
  await expect(diagnose(session(queue), pending, at(LATER_MS))).resolves.toBe(
    `No worker takes workflow tasks from the queue ${queue}. Start one on the host of the workspace: surehand worker`,
  );
});

test('a workflow task that fails over and over → stuck, with the number of tries', async () => {
  const { queue, pending } = await startUnserved();
  const failing = { ...pending, workflowTask: { attempt: 9, scheduledAt: Date.now(), started: false } };
  await expect(diagnose(session(queue), failing, at(LATER_MS))).resolves.toMatch(
    /^The run is stuck: its workflow task failed 9 times\. The worker’s log says why/,
  );
});

test('a step that waits: a host without worker is named; with one there is nothing to say', async () => {
  const queue = `nobody-${randomUUID()}`;
  await expect(diagnose(session(queue), waiting({}), at(LATER_MS))).resolves.toMatch(
    new RegExp(`^No worker takes the steps of this host \\(queue ${queue}\\)`),
  );
  await expect(diagnose(session(worker.queue), waiting({}), at(LATER_MS))).resolves.toBeUndefined();
});

test('a step that waits for another host than this one → that queue is named, and where to start the worker', async () => {
  const [here, away] = [worker.queue, `away-${randomUUID()}`];
  const elsewhere = { activityId: 'tool-1.1', queue: away, started: false, attempt: 1, scheduledAt: Date.now() };
  await expect(diagnose(session(here), waiting({ activities: [elsewhere] }), at(LATER_MS))).resolves.toBe(
    `No worker takes the steps of the host that has the workspace (queue ${away}); the run waits for it. Start one there: surehand worker`,
  );
});

test('a step that runs, and a run that has ended → nothing to say, however long it takes', async () => {
  const queue = `nobody-${randomUUID()}`;
  const running = { activityId: 'tool-1.1', started: true, attempt: 1, scheduledAt: Date.now() };
  await expect(diagnose(session(queue), waiting({ activities: [running] }), at(LATER_MS))).resolves.toBeUndefined();
  await expect(diagnose(session(queue), waiting({ open: false }), at(LATER_MS))).resolves.toBeUndefined();
});
