import { randomUUID } from 'node:crypto';
import type { CliError } from '../../src/cli/cli-error';
import { createEnvelope } from '../../src/cli/envelope';
import type { ExistingRun } from '../../src/cli/existing-run';
import { sendEnvelope, type Sent } from '../../src/cli/send-envelope';
import type { Session } from '../../src/cli/session';
import type { Envelope } from '../../src/contract/envelope';
import type { TemporalClient } from '../../src/temporal/connection';
import { createGate, type Gate } from '../support/gate';
import { runInput } from '../support/run-input';
import { scripted } from '../support/scripts';
import { success, testToolbox } from '../support/test-toolbox';
import { startTestWorker, type TestWorker } from '../support/test-worker';

let worker: TestWorker | undefined;

afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});

const WAITING = scripted([{ calls: [{ name: 'readSlow', input: {} }] }, { text: 'The end.' }]);

/** A worker whose tool waits at the gate. */
async function startWaiting(queue = `send-${randomUUID()}`): Promise<{ started: TestWorker; running: Gate; go: Gate }> {
  const running = createGate();
  const go = createGate();
  const readSlow = async () => {
    running.open();
    await go.opened;
    return success('slow done');
  };
  const started = await startTestWorker({ queue, toolbox: testToolbox({ readSlow }) });
  worker = started;
  return { started, running, go };
}

async function send(
  { client }: TemporalClient,
  workflowId: string,
  envelope: Envelope,
  timeoutMs = 10_000,
): Promise<Sent> {
  const description = await client.workflow.getHandle(workflowId).describe();
  const run: ExistingRun = { workflowId, runId: description.runId, open: true, description };
  return sendEnvelope({ client } as Session, run, envelope, { command: 'surehand', timeoutMs });
}

const message = (text: string): Envelope => createEnvelope('message', { text }, 'ann@box');

test('to a run that works → queued with its place; the next turn has both, in order', async () => {
  const { started, running, go } = await startWaiting();
  const { workflowId } = await started.start(runInput({ model: WAITING }));
  await running.opened;

  const first = await send(started.temporal, workflowId, message('one'));
  const second = await send(started.temporal, workflowId, message('two'));
  go.open();
  await started.temporal.client.workflow.getHandle(workflowId).result();

  expect([first, second]).toMatchObject([
    { status: 'queued', place: 1 },
    { status: 'queued', place: 2 },
  ]);
  const view = await started.view(workflowId);
  expect(view.turns[1]?.said).toEqual([
    { by: 'ann@box', text: 'one' },
    { by: 'ann@box', text: 'two' },
  ]);
  expect(view.received).toEqual([first.id, second.id]);
});

test('to a run that has ended, or of a kind it does not take → exit 2 and why', async () => {
  const { started, running, go } = await startWaiting();
  const { workflowId } = await started.start(runInput({ model: WAITING }));
  await running.opened;

  const refused = send(started.temporal, workflowId, createEnvelope('stop', {}, 'ann@box'));
  await expect(refused).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('a task does not take input of kind stop') as string,
  });
  go.open();
  await started.temporal.client.workflow.getHandle(workflowId).result();
  await expect(send(started.temporal, workflowId, message('late'))).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('has ended') as string,
  });
});

test('without a worker → stored; it is taken in once when a worker starts', async () => {
  const queue = `send-${randomUUID()}`;
  const other = await startTestWorker();
  worker = other;
  const { client } = other.temporal;
  const workflowId = `test-${randomUUID()}`;
  const input = { ...runInput({ model: scripted([{ text: 'Read it.' }]) }), hostQueue: queue };
  await client.workflow.start('agentWorkflow', { workflowId, taskQueue: queue, args: [input] });
  const envelope = message('read this first');

  expect(await send(other.temporal, workflowId, envelope)).toEqual({ id: envelope.id, status: 'stored' });
  expect(await send(other.temporal, workflowId, envelope)).toEqual({ id: envelope.id, status: 'stored' });
  await other.stop();
  const { started } = await startWaiting(queue);
  await started.temporal.client.workflow.getHandle(workflowId).result();

  const view = await started.view(workflowId);
  expect(view.turns.flatMap(({ said }) => said)).toEqual([{ by: 'ann@box', text: 'read this first' }]);
});

test('to a worker that has just gone → within the time given: not known, never "sent"', async () => {
  const { started, running, go } = await startWaiting();
  const { workflowId } = await started.start(runInput({ model: WAITING }));
  await running.opened;
  go.open();
  await started.stop();
  const next = await startTestWorker();
  worker = next;

  const failure: CliError = await send(next.temporal, workflowId, message('hello?'), 1_000).then(
    () => Promise.reject(new Error('it was sent')),
    (error: unknown) => error as CliError,
  );

  expect(failure.exitCode).toBe(6);
  expect(failure.message).toContain('did not answer in time, so whether it has the message is not known');
});

test('the same words twice are two messages', () => {
  expect(message('again').id).not.toBe(message('again').id);
});
