import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { freePort } from '../support/free-port';
import { removeTempDirectories } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';
import type { CliBench, Running } from './support/cli-bench';
import { createCliBench } from './support/cli-bench';

/** A host: a state directory of its own, and a worker that serves it. */
interface TestHost {
  readonly bench: CliBench;
  readonly name: string;
}

const RUNS_PER_HOST = process.env['SUREHAND_LONG'] === undefined ? 2 : 10;
const env = {
  TEMPORAL_ADDRESS: process.env['SUREHAND_TEST_TEMPORAL'],
  SUREHAND_QUEUE_PREFIX: `cluster-${process.pid}`,
};
let hosts: readonly TestHost[] = [];

beforeAll(async () => {
  hosts = [
    { bench: await createCliBench(), name: 'one' },
    { bench: await createCliBench(), name: 'two' },
  ];
});

afterAll(async () => {
  for (const { bench } of hosts) await bench.tearDown();
  await removeTempDirectories();
});

async function startWorker({ bench }: TestHost): Promise<Running> {
  const port = await freePort();
  const worker = bench.start(['worker', '--health-port', String(port)], { env });
  const isUp = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status === 200;
  await waitFor('a healthy worker', isUp, { timeoutMs: 60_000 });
  return worker;
}

/** Starts the host's conversations, each in a workspace of its own; answers their ids with their workspaces. */
async function startRuns({ bench, name }: TestHost): Promise<ReadonlyMap<string, string>> {
  const command = 'echo step >> ledger; until test -e go; do sleep 0.1; done';
  const model = await bench.script([
    ...Array.from({ length: 3 }, (_, index) => ({
      text: `Step ${index + 1}.`,
      calls: [{ name: 'bash', input: { command } }],
    })),
    { text: 'All done.' },
  ]);
  const started = new Map<string, string>();
  for (let index = 0; index < RUNS_PER_HOST; index += 1) {
    const id = `cluster-${process.pid}-${name}-${index}`;
    const workspace = await bench.workspace();
    const { code } = await bench.run(['start', 'x', '-w', workspace, '--model', model, '--id', id], { env });
    expect(code).toBe(0);
    started.set(id, workspace);
  }
  return started;
}

test(`${2 * RUNS_PER_HOST} conversations of two hosts on one shared queue, one worker is killed → all finish, each on its own host`, async () => {
  const [one, two] = hosts as readonly [TestHost, TestHost];
  const first = await startWorker(one);
  const second = await startWorker(two);
  const ofTwo = await startRuns(two);
  const ofOne = await startRuns(one);
  const ledgers = (runs: ReadonlyMap<string, string>): string[] =>
    [...runs.values()].flatMap((workspace) =>
      readdirSync(workspace).includes('ledger') ? [readFileSync(path.join(workspace, 'ledger'), 'utf8')] : [],
    );
  const waiting = (): boolean => ledgers(ofOne).length + ledgers(ofTwo).length === 2 * RUNS_PER_HOST;
  await waitFor('each conversation to be in the middle of its work', waiting, { timeoutMs: 90_000 });

  first.child.kill('SIGKILL');
  await first.finished;
  for (const workspace of [...ofOne.values(), ...ofTwo.values()]) writeFileSync(path.join(workspace, 'go'), '');
  // Workflows go on where a worker is; what is to be done on host one waits for its own.
  await expectDone(ofTwo);
  const again = await startWorker(one);
  await expectDone(ofOne);

  for (const text of [...ledgers(ofOne), ...ledgers(ofTwo)]) expect(text.split('\n')).toHaveLength(4);
  expect(ledgers(ofOne)).toHaveLength(RUNS_PER_HOST);
  expect(journalsOf(one)).toEqual([...ofOne.keys()].sort());
  expect(journalsOf(two)).toEqual([...ofTwo.keys()].sort());
  for (const worker of [second, again]) {
    worker.child.kill('SIGTERM');
    expect((await worker.finished).code).toBe(0);
  }
}, 240_000);

async function expectDone(runs: ReadonlyMap<string, string>): Promise<void> {
  const connection = await Connection.connect({ address: env.TEMPORAL_ADDRESS ?? '' });
  const { workflow } = new Client({ connection });
  const results = await Promise.all([...runs.keys()].map((id) => workflow.getHandle(id).result() as Promise<unknown>));
  for (const result of results) expect(result).toMatchObject({ outcome: 'done', turns: 4 });
  await connection.close();
}

/** Workflow ids whose calls this host's journal has. */
function journalsOf({ bench }: TestHost): string[] {
  const calls = path.join(bench.home, 'calls');
  const ids = readdirSync(calls).flatMap((name) => {
    try {
      const { callKey } = JSON.parse(readFileSync(path.join(calls, name, 'intent.json'), 'utf8')) as {
        callKey: string;
      };
      return [callKey.split('\n')[0] ?? ''];
    } catch {
      // The mark of the host and the like.
      return [];
    }
  });
  return [...new Set(ids)].sort();
}
