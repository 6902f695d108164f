import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Message } from '../../src/contract/message';
import { removeTempDirectories } from '../support/temp-directory';
import type { ScriptTurn } from '../support/scripts';
import { waitFor } from '../support/wait-for';
import type { CliBench } from './support/cli-bench';
import { createCliBench } from './support/cli-bench';

let bench: CliBench;

beforeAll(async () => {
  bench = await createCliBench({ turnsPerRun: PER_RUN, maxTurns: 1_000 });
});

afterAll(async () => {
  await bench.tearDown();
  await removeTempDirectories();
});

interface Shown {
  readonly outcome: string;
  readonly turns: number;
  readonly unread: readonly string[];
  readonly messages: readonly Message[];
}

async function shown(id: string): Promise<Shown> {
  const { stdout } = await bench.run(['show', id, '--json']);
  return JSON.parse(stdout) as Shown;
}

/** The long form of the suite's own: `SUREHAND_LONG=1` makes 300 turns of it. */
const { TURNS, PER_RUN, MESSAGES, KILLS } =
  process.env['SUREHAND_LONG'] === undefined
    ? { TURNS: 22, PER_RUN: 8, MESSAGES: 3, KILLS: 1 }
    : { TURNS: 300, PER_RUN: 20, MESSAGES: 10, KILLS: 3 };

/** However busy the machine is: the run does not end before all is sent. */
const WAIT = '; until test -e go; do sleep 0.1; done';

test(`${TURNS} turns in runs of ${PER_RUN}, ${MESSAGES} messages, ${KILLS} kills of the worker → one transcript, each message and each step once`, async () => {
  const workspace = await bench.workspace({ 'ledger.txt': '' });
  const turns: ScriptTurn[] = Array.from({ length: TURNS - 1 }, (_, index) => ({
    text: `turn ${index + 1}.`,
    calls: [{ name: 'bash', input: { command: `echo ${index + 1} >> ledger.txt${index + 2 === TURNS ? WAIT : ''}` } }],
  }));
  const model = await bench.script([...turns, { text: 'The end.' }]);
  const run = bench.start(['run', 'go on', '-w', workspace, '--model', model, '--id', 'long', '--json']);
  const ledger = (): string[] => readFileSync(path.join(workspace, 'ledger.txt'), 'utf8').trim().split('\n');
  const at = (share: number): Promise<unknown> =>
    waitFor(`step ${share * TURNS}`, () => ledger().length >= share * TURNS, { timeoutMs: 240_000 });

  for (let n = 1; n <= MESSAGES; n += 1) {
    await at(n / (MESSAGES + 2));
    if (n <= KILLS) process.kill(bench.daemon().workerPid ?? 0, 'SIGKILL');
    // While the worker is away it is stored, else queued; both count once.
    expect((await bench.run(['send', 'long', `message ${n}.`])).code).toBe(0);
  }
  writeFileSync(path.join(workspace, 'go'), '');
  const finished = await run.finished;

  expect(JSON.parse(finished.stdout)).toMatchObject({ outcome: 'done', turns: TURNS, text: 'The end.' });
  expect(ledger()).toEqual(Array.from({ length: TURNS - 1 }, (_, index) => String(index + 1)));
  const { messages, unread } = await shown('long');
  const whole = JSON.stringify(messages);
  for (let n = 1; n <= MESSAGES; n += 1) expect(whole.split(`message ${n}.`)).toHaveLength(2);
  for (let n = 1; n < TURNS; n += 1) expect(whole.split(`"turn ${n}."`)).toHaveLength(2);
  expect(unread).toEqual([]);
  expect(messages.map(({ role }) => role)).toEqual(
    messages.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
  );
}, 300_000);

test('chat from a pipe → answers to stdout, one by one; the end of the pipe ends it; a chat left open can be come back to', async () => {
  const workspace = await bench.workspace({ 'a.txt': 'first\n' });
  const model = await bench.script([
    { text: 'Hello.' },
    { calls: [{ name: 'edit_file', input: { path: 'a.txt', old_string: 'first', new_string: 'second' } }] },
    { text: 'Changed.', expect: { lastResults: ['a.txt'] } },
    { text: 'Bye.' },
  ]);
  const chat = ['chat', '-w', workspace, '--model', model, '--id', 'talk'];

  const opened = await bench.run(chat, { stdin: 'Hi.\n/nonsense\nChange it.\n/detach\n' });
  expect([opened.code, opened.stdout]).toEqual([0, 'Hello.\nChanged.\n']);
  expect(opened.stderr).toContain('There is no /nonsense. /help says what there is.');
  expect(opened.stderr).toMatch(/✓ 2\.1 {2}edit_file/);
  expect(opened.stderr).toContain('The chat stays open. Come back: surehand chat --id talk');
  const listed = await bench.run(['list', '--json']);
  expect(JSON.parse(listed.stdout)).toContainEqual(
    expect.objectContaining({ workflowId: 'talk', state: 'waiting-for-message' }),
  );
  // It waits without holding the workspace.
  const other = await bench.run(['run', 'x', '-w', workspace, '--model', await bench.script([{ text: 'Mine.' }])]);
  expect(other).toMatchObject({ code: 0, stdout: 'Mine.\n' });

  const back = await bench.run(['chat', '--id', 'talk'], { stdin: 'Thanks.\n' });
  expect([back.code, back.stdout]).toEqual([0, 'Bye.\n']);
  expect(back.stderr).toContain('done · 4 turns');
  expect(await shown('talk')).toMatchObject({ outcome: 'done', turns: 4 });
  expect(readFileSync(path.join(workspace, 'a.txt'), 'utf8')).toBe('second\n');
});

test('--output-schema → ends only with an answer that it accepts, which the result has as `structured`; the plan is shown', async () => {
  const workspace = await bench.workspace({
    'answer.json': JSON.stringify({ type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }),
    'broken.json': '{"type": "objekt"}',
  });
  const todos = [{ text: 'look around', status: 'in_progress' }];
  const model = await bench.script([
    { calls: [{ name: 'todo_write', input: { todos } }] },
    { text: 'It is fine.' },
    { calls: [{ name: 'submit_result', input: { ok: 'yes, very much' } }], expect: { lastResults: [] } },
    { calls: [{ name: 'submit_result', input: { ok: true } }], expect: { lastResults: ['/ok must be boolean'] } },
  ]);
  const run = (schema: string) =>
    bench.run([
      'run',
      'judge',
      '-w',
      workspace,
      '--model',
      model,
      '--json',
      '--output-schema',
      path.join(workspace, schema),
    ]);

  const judged = await run('answer.json');
  expect(judged.code).toBe(0);
  expect(JSON.parse(judged.stdout)).toMatchObject({ outcome: 'done', structured: { ok: true }, turns: 4 });
  expect(judged.stderr).toContain('todo_write 0 of 1 done, now: look around');
  const { workflowId } = JSON.parse(judged.stdout) as { workflowId: string };
  expect((await bench.run(['show', workflowId])).stdout).toContain('plan\n  […] look around\n');
  expect(await run('broken.json')).toMatchObject({ code: 2, stdout: '' });
});
