import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResultDocument } from '../../src/contract/result-document';
import { connectClient, type TemporalClient } from '../../src/temporal/connection';
import { createCliBench, type CliBench, type Running } from '../cli/support/cli-bench';
import { tempDirectory } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';

// Each test counts by the ledger how often the command really started.

let bench: CliBench;
let temporal: TemporalClient | undefined;

beforeAll(async () => {
  bench = await createCliBench();
}, 120_000);

afterEach(async () => {
  await temporal?.close();
  temporal = undefined;
});

afterAll(async () => {
  await bench.tearDown();
});

interface Slow {
  readonly id: string;
  readonly workspace: string;
  readonly ledger: string;
  /** Unique argument of the `sleep` that the command runs. */
  readonly seconds: string;
  readonly running: Running;
}

/** Starts a run whose command notes its start and, some seconds later, its end; waits for the start. */
async function startSlow(id: string, seconds: number): Promise<Slow> {
  const workspace = await bench.workspace();
  const unique = `${String(seconds)}.${String(Date.now() % 1_000_000).padStart(6, '0')}1`;
  const command = `echo start >> ledger; sleep ${unique}; echo end >> ledger`;
  const model = await bench.script([{ calls: [{ name: 'bash', input: { command } }] }, { text: 'The end.' }]);
  const running = bench.start(['run', 'slowly', '--id', id, '--workspace', workspace, '--model', model]);
  const ledger = path.join(workspace, 'ledger');
  await waitFor('the command to start', async () => (await linesOf(ledger)).length > 0, { timeoutMs: 60_000 });
  return { id, workspace, ledger, seconds: unique, running };
}

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean);
}

async function processesWith(argument: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.split('\0').slice(0, 2).join(' ') === `sleep ${argument}`);
}

async function resultOf(id: string): Promise<ResultDocument> {
  const { stdout } = await bench.run(['result', id, '--json']);
  return JSON.parse(stdout) as ResultDocument;
}

function pid(part: 'workerPid' | 'serverPid' | 'pid'): number {
  const found = bench.daemon()[part];
  if (found === undefined) throw new Error(`the daemon has no ${part}`);
  return found;
}

/** The worker dies and nobody starts another, until `restart` is called. */
async function withoutWorker(work: () => Promise<void>): Promise<void> {
  const daemon = pid('pid');
  const worker = pid('workerPid');
  process.kill(daemon, 'SIGSTOP');
  try {
    process.kill(worker, 'SIGKILL');
    await work();
  } finally {
    process.kill(daemon, 'SIGCONT');
  }
}

async function connect(): Promise<TemporalClient> {
  temporal = await connectClient({ address: bench.daemon().address ?? '', namespace: 'default' });
  return temporal;
}

test.each(['serverPid', 'workerPid'] as const)(
  '%s is stopped for longer than the heartbeat timeout and goes on → the command ran once and its result is real',
  async (part) => {
    const slow = await startSlow(`stopped-${part.toLowerCase()}`, 9);

    process.kill(pid(part), 'SIGSTOP');
    await sleep(5_000);
    process.kill(pid(part), 'SIGCONT');

    const { code, stdout } = await slow.running.finished;
    expect([code, stdout]).toEqual([0, 'The end.\n']);
    expect(await linesOf(slow.ledger)).toEqual(['start', 'end']);
  },
  120_000,
);

test('cancelled while the worker is down → ends as cancelled when one is back, its command killed', async () => {
  const slow = await startSlow('cancelled', 300);

  await withoutWorker(async () => {
    const { client } = await connect();
    await client.workflow.getHandle(slow.id).cancel();
  });

  expect((await slow.running.finished).code).toBe(130);
  expect((await resultOf(slow.id)).outcome).toBe('cancelled');
  expect(await processesWith(slow.seconds)).toEqual([]);
  expect(await linesOf(slow.ledger)).toEqual(['start']);
}, 120_000);

test('terminated while the worker is down → the next worker ends the command that nobody owns', async () => {
  const slow = await startSlow('terminated', 300);
  expect(await processesWith(slow.seconds)).toHaveLength(1);

  await withoutWorker(async () => {
    const { client } = await connect();
    await client.workflow.getHandle(slow.id).terminate('test');
  });

  await slow.running.finished;
  await waitFor('the command to be gone', async () => (await processesWith(slow.seconds)).length === 0, {
    timeoutMs: 30_000,
  });
  expect(await linesOf(slow.ledger)).toEqual(['start']);
}, 120_000);

test('reset to before the tool while the worker is down → the new run attaches to the same command', async () => {
  const slow = await startSlow('reset', 12);

  await withoutWorker(async () => {
    const { client } = await connect();
    const handle = client.workflow.getHandle(slow.id);
    const events = (await handle.fetchHistory()).events ?? [];
    // The workflow task that scheduled the tool: everything up to the model's answer stays.
    const completed = events.filter((event) => event.workflowTaskCompletedEventAttributes);
    const last = completed[completed.length - 1];
    await client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: slow.id, runId: (await handle.describe()).runId },
      reason: 'test',
      requestId: randomUUID(),
      workflowTaskFinishEventId: last?.eventId ?? null,
    });
  });

  const attached = await bench.run(['attach', slow.id]);
  expect([attached.code, attached.stdout, attached.stderr]).toEqual([0, 'The end.\n', expect.any(String)]);
  expect(await linesOf(slow.ledger)).toEqual(['start', 'end']);
}, 120_000);

test('a message that the server accepted just before it was killed → taken in once', async () => {
  const slow = await startSlow('message', 6);
  const { client } = await connect();
  const envelope = { id: 'm-1', at: Date.now(), kind: 'message', body: { text: 'One more thing.' }, by: 'tester' };

  await client.workflow.getHandle(slow.id).signal('inbox', envelope);
  process.kill(pid('serverPid'), 'SIGKILL');

  expect((await slow.running.finished).code).toBe(0);
  const { stdout } = await bench.run(['show', slow.id, '--json']);
  expect(stdout.split('One more thing.')).toHaveLength(2);
  expect(await linesOf(slow.ledger)).toEqual(['start', 'end']);
}, 120_000);

test('a second worker on the same state directory → refuses with exit 2 and names the holder', async () => {
  await bench.run(['list']);
  const { address = '' } = bench.daemon();

  const second = await bench.run(['worker'], { env: { TEMPORAL_ADDRESS: address } });

  expect(second.code).toBe(2);
  expect(second.stderr).toContain(`process ${String(pid('workerPid'))} already serves ${bench.home}`);
}, 60_000);

test('a run of another state directory has the workspace → refused by its name, also while all of it is dead; free once it was cancelled', async () => {
  const slow = await startSlow('elsewhere', 300);
  const env = { SUREHAND_HOME: path.join(await tempDirectory('other-state'), 'home') };
  const model = await bench.script([
    { calls: [{ name: 'bash', input: { command: 'echo other >> ledger' } }] },
    { text: 'I did.' },
  ]);
  const change = (id: string) => bench.run(['run', 'too', '--id', id, '-w', slow.workspace, '--model', model], { env });

  const beside = await change('beside');
  // Its client first: an attached one would start the daemon again.
  slow.running.child.kill('SIGKILL');
  for (const part of ['pid', 'workerPid', 'serverPid'] as const) process.kill(pid(part), 'SIGKILL');
  const whileDead = await change('while-dead');
  await bench.run(['cancel', slow.id]);
  const after = await change('after');
  await bench.run(['down'], { env });

  for (const { code, stderr } of [beside, whileDead]) {
    expect(code).toBe(6);
    expect(stderr).toContain(`SUREHAND_HOME=${bench.home} surehand cancel elsewhere`);
  }
  expect([after.code, after.stdout]).toEqual([0, 'I did.\n']);
  expect(await linesOf(slow.ledger)).toEqual(['start', 'other']);
}, 120_000);
