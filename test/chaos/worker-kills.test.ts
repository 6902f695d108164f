import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Message } from '../../src/contract/message';
import type { ResultDocument } from '../../src/contract/result-document';
import { createCliBench, type CliBench } from '../cli/support/cli-bench';
import { isAlive } from '../support/processes';
import { waitFor } from '../support/wait-for';

/** `npm run test:kills` asks for the long form. */
const IS_LONG = process.env['SUREHAND_LONG_KILLS'] === '1';
const TURNS = IS_LONG ? 20 : 7;
const KILLS = IS_LONG ? 10 : 2;
/** A mutating call that was in flight at a kill may say honestly that it did not start. */
const HONEST = /^Not started: the worker died|the command was not started; it is safe to run it again/;

type Shown = ResultDocument & { readonly messages: readonly Message[] };

let bench: CliBench;

beforeAll(async () => {
  bench = await createCliBench();
}, 120_000);

afterAll(async () => {
  await bench.tearDown();
});

const turns = [
  ...Array.from({ length: TURNS - 1 }, (_, index) => ({
    text: `Step ${String(index + 1)}.`,
    calls: [
      { name: 'read_file', input: { path: 'notes.txt' } },
      { name: 'bash', input: { command: `echo step-${String(index + 1)} >> ledger; sleep "$(cat pace)"; echo said` } },
    ],
  })),
  { text: 'The end.' },
];

async function runToEnd(id: string, pace: string, whileRunning: (workspace: string) => Promise<void>) {
  const workspace = await bench.workspace({ 'notes.txt': 'some notes\n', pace });
  const model = await bench.script(turns);
  const running = bench.start(['run', 'count', '--id', id, '--workspace', workspace, '--model', model]);
  await whileRunning(workspace);
  const finished = await running.finished;
  const shown = await bench.run(['show', id, '--json']);
  const ledger = (await readFile(path.join(workspace, 'ledger'), 'utf8')).trim().split('\n');
  return { finished, view: JSON.parse(shown.stdout) as Shown, ledger };
}

/** The daemon's record may name the worker that was just killed for a while yet. */
function liveWorker(killed: number | undefined): number | undefined {
  const { state, workerPid } = bench.daemon();
  const isNew = workerPid !== undefined && workerPid !== killed && isAlive(workerPid);
  return state === 'ready' && isNew ? workerPid : undefined;
}

async function linesOf(workspace: string): Promise<number> {
  const text = await readFile(path.join(workspace, 'ledger'), 'utf8').catch(() => '');
  return text.split('\n').length;
}

/** Roles, texts, inputs and results, without the ids that differ from run to run. */
function essence(messages: readonly Message[]): string[] {
  return messages.flatMap(({ role, content }) =>
    content.map((block) => {
      const essential = Object.entries(block).filter(([key]) => !['id', 'tool_use_id', 'is_error'].includes(key));
      return `${role} ${JSON.stringify(Object.fromEntries(essential))}`;
    }),
  );
}

function contentOf(line: string): string {
  const block = JSON.parse(line.slice(line.indexOf('{'))) as { readonly content?: string };
  return block.content ?? '';
}

test('the worker is killed at random moments of a run → the same transcript as without, nothing twice', async () => {
  const quiet = await runToEnd('quiet', '0.05', () => Promise.resolve());
  const killed = await runToEnd('killed', '0.6', async (workspace) => {
    let killed: number | undefined;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const worker = await waitFor('a new worker', () => liveWorker(killed), { timeoutMs: 60_000 });
      const lines = await linesOf(workspace);
      await waitFor('the run to go on', async () => (await linesOf(workspace)) > lines, { timeoutMs: 40_000 });
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
      process.kill(worker, 'SIGKILL');
      killed = worker;
    }
  });

  expect(quiet.finished.code).toBe(0);
  expect(killed.finished.code).toBe(0);
  expect(new Set(killed.ledger).size).toBe(killed.ledger.length);
  const expected = essence(quiet.view.messages);
  const actual = essence(killed.view.messages);
  expect(actual).toHaveLength(expected.length);
  const different = actual.filter((line, index) => line !== expected[index]);
  const honest = different.filter((line) => HONEST.test(contentOf(line)));
  expect(different).toEqual(honest);
  expect(killed.ledger.length + honest.length).toBe(TURNS - 1);
}, 300_000);
