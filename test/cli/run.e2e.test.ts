import { once } from 'node:events';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResultDocument } from '../../src/contract/result-document';
import { isAlive } from '../support/processes';
import { removeTempDirectories } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';
import type { CliBench } from './support/cli-bench';
import { createCliBench } from './support/cli-bench';

let bench: CliBench;

beforeAll(async () => {
  bench = await createCliBench();
});

afterAll(async () => {
  await bench.tearDown();
  await removeTempDirectories();
});

/** Waits until the test lets it go on: how busy the machine is decides nothing. */
const WAITING = [
  { text: 'I wait.', calls: [{ name: 'bash', input: { command: 'until test -e go; do sleep 0.1; done' } }] },
  { text: 'It is over.' },
];

const letGo = (workspace: string): void => writeFileSync(path.join(workspace, 'go'), '');
const parse = (text: string): ResultDocument => JSON.parse(text) as ResultDocument;

describe('a run', () => {
  test('in a workspace → steps on stderr, the answer alone on stdout, exit 0; show, result and list agree', async () => {
    const workspace = await bench.workspace({ 'a.txt': 'hello\n' });
    const model = await bench.script([
      { text: 'I look.', calls: [{ name: 'read_file', input: { path: 'a.txt' } }] },
      {
        calls: [
          { name: 'edit_file', input: { path: 'a.txt', old_string: 'hello', new_string: 'bye' } },
          { name: 'bash', input: { command: 'cat a.txt; exit 3' } },
        ],
      },
      { text: 'It says bye.', expect: { lastResults: ['bye', 'exit code 3'] } },
    ]);
    const run = await bench.run(['run', 'say bye\nin a.txt', '-w', workspace, '--model', model, '--id', 'first']);
    expect(run).toMatchObject({ code: 0, stdout: 'It says bye.\n' });
    expect(run.stderr).toMatch(/run first\n● I look\.\n {2}✓ 1\.1 {2}read_file {2}a\.txt · \d+\.\d s\n/);
    expect(run.stderr).toMatch(/✓ 2\.1 {2}edit_file {2}a\.txt · .* · \+1 −1\n/);
    expect(run.stderr).toMatch(/✗ 2\.2 {2}bash {7}cat a\.txt; exit 3 · .* · exit 3\n/);
    expect(run.stderr).toContain('-hello\n+bye\n');
    expect(run.stderr).toMatch(/done · 3 turns · .* tokens in, .* out/);
    expect(run.stderr).toContain('changed: a.txt');
    expect(readFileSync(path.join(workspace, 'a.txt'), 'utf8')).toBe('bye\n');

    const result = await bench.run(['result', 'first', '--json']);
    expect(result.code).toBe(0);
    expect(parse(result.stdout)).toMatchObject({
      schemaVersion: 1,
      workflowId: 'first',
      outcome: 'done',
      isError: false,
      text: 'It says bye.',
      turns: 3,
      filesChanged: ['a.txt'],
      error: null,
    });
    expect((await bench.run(['result', 'first'])).stdout).toBe('It says bye.\n');

    const recording = path.join(workspace, '..', 'first.yaml');
    const shown = await bench.run(['show', 'first', '--record', recording]);
    expect(shown.stderr).toContain('recorded 3 turns in ');
    expect(readFileSync(recording, 'utf8')).toContain('name: edit_file\n');
    expect(shown.code).toBe(0);
    for (const text of [
      'say bye\n  in a.txt',
      'turn 1',
      'I look.',
      '✓ 1.1',
      'hello',
      'It says bye.',
      'done · 3 turns',
    ]) {
      expect(shown.stdout).toContain(text);
    }
    const document = JSON.parse((await bench.run(['show', 'first', '--json'])).stdout) as Record<string, unknown>;
    expect(document).toMatchObject({ ...parse(result.stdout), state: 'done', task: 'say bye\nin a.txt', workspace });
    expect((document['messages'] as { role: string }[]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(document['historyBytes']).toBeGreaterThan(1_000);
    expect(document['historyEvents']).toBeGreaterThan(20);

    const listed = await waitFor('the run in the list', async () => {
      const rows = JSON.parse((await bench.run(['list', '--json'])).stdout) as Record<string, unknown>[];
      return rows.find(({ workflowId }) => workflowId === 'first');
    });
    expect(listed).toMatchObject({ state: 'done', turns: 3, task: 'say bye in a.txt' });
  });

  test('with standard input open and silent → starts at once and never reads it', async () => {
    const workspace = await bench.workspace();
    const running = bench.start(['run', 'hi', '-w', workspace, '--model', await bench.script([{ text: 'Hello.' }])]);
    expect(await running.finished).toMatchObject({ code: 0, stdout: 'Hello.\n' });
  });

  test('"-" → the task is standard input', async () => {
    const workspace = await bench.workspace();
    const args = [
      'run',
      '-',
      '-w',
      workspace,
      '--id',
      'from-stdin',
      '--model',
      await bench.script([{ text: 'Read.' }]),
    ];
    expect(await bench.run(args, { stdin: 'the piped task\n' })).toMatchObject({ code: 0 });
    expect((await bench.run(['show', 'from-stdin'])).stdout).toContain('the piped task');
  });

  test('--stream-json → one event a line, the result last', async () => {
    const workspace = await bench.workspace({ x: '1' });
    const model = await bench.script([
      { text: 'See.', calls: [{ name: 'read_file', input: { path: 'x' } }] },
      { text: 'Seen.' },
    ]);
    const { code, stdout } = await bench.run(['run', 'look', '-w', workspace, '--model', model, '--stream-json']);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(code).toBe(0);
    expect(events.map(({ type }) => type)).toEqual(['started', 'text', 'step', 'text', 'result']);
    expect(events[2]).toMatchObject({ call: '1.1', tool: 'read_file', status: 'success' });
    expect(events[4]).toMatchObject({ result: { outcome: 'done', text: 'Seen.' } });
  });

  test('that runs into its turn limit → exit 5; whose script runs out → exit 1; both say why', async () => {
    const workspace = await bench.workspace({ x: '1' });
    const model = await bench.script([{ calls: [{ name: 'read_file', input: { path: 'x' } }] }]);
    const limited = await bench.run(['run', 'a', '-w', workspace, '--model', model, '--max-turns', '1', '--json']);
    expect(limited.code).toBe(5);
    expect(parse(limited.stdout)).toMatchObject({ outcome: 'limit_reached', error: { class: 'max_turns' } });
    const short = await bench.run(['run', 'b', '-w', workspace, '--model', model, '--json']);
    expect(short.code).toBe(1);
    expect(parse(short.stdout)).toMatchObject({ outcome: 'failed', error: { class: 'script_exhausted' } });
    expect(short.stderr).toMatch(/failed · 1 turn/);
  });

  test('with a script that does not follow the format → exit 1, the line is named', async () => {
    const workspace = await bench.workspace();
    const model = await bench.script([{ text: 'a' }, { texxt: 'b' }]);
    const { code, stderr } = await bench.run(['run', 'a', '-w', workspace, '--model', model]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/line 3.*texxt.*\(script_invalid\)/s);
  });

  test('in a workspace that another run holds → exit 6, the holder is named', async () => {
    const workspace = await bench.workspace();
    const model = await bench.script(WAITING);
    const holder = bench.start(['run', 'hold', '-w', workspace, '--model', model, '--id', 'holder']);
    await holder.said('● I wait.');
    const second = await bench.run(['run', 'other', '-w', workspace, '--model', await bench.script([{ text: 'x' }])]);
    expect(second.code).toBe(6);
    expect(second.stderr).toMatch(/holder.*\(workspace_busy\)/);
    letGo(workspace);
    expect((await holder.finished).code).toBe(0);
  });
});

describe('JSON on stdout', () => {
  const LONG = 'ü'.repeat(100_000);

  beforeAll(async () => {
    const workspace = await bench.workspace();
    const args = ['run', 'long', '-w', workspace, '--id', 'long', '--model', await bench.script([{ text: LONG }])];
    expect((await bench.run(args)).code).toBe(0);
  });

  test('a reader that starts late gets the whole document', async () => {
    const running = bench.start(['show', 'long', '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
    running.child.stdout?.pause();
    await sleep(1_500);
    running.child.stdout?.resume();
    const { stdout, code } = await running.finished;
    expect(code).toBe(0);
    expect(parse(stdout).text).toBe(LONG);
  });

  test('a reader that goes early → no stack trace, and the exit code says that it was not whole', async () => {
    const running = bench.start(['show', 'long', '--json']);
    running.child.stdout?.destroy();
    const { stderr, code } = await running.finished;
    expect([code, stderr]).toEqual([1, '']);
  });

  test('a full disk → not 0, one sentence', async () => {
    const { stderr, code } = await bench.run(['result', 'long', '--json'], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });
    expect([code, stderr]).toEqual([1, 'surehand: The output cannot be written (ENOSPC).\n']);
  });
});

describe('one id', () => {
  test('the same task again → its result; another task → exit 2; --again → anew', async () => {
    const workspace = await bench.workspace();
    const model = await bench.script([{ text: 'Once.' }]);
    const args = ['run', 'do it', '-w', workspace, '--model', model, '--id', 'twice', '--json'];
    const first = parse((await bench.run(args)).stdout);
    const second = await bench.run(args);
    expect(second.code).toBe(0);
    expect(second.stderr).toContain('the same task has ended already');
    expect(parse(second.stdout)).toEqual(first);

    const other = await bench.run(['run', 'do that', '-w', workspace, '--model', model, '--id', 'twice']);
    expect([other.code, other.stdout]).toEqual([2, '']);
    expect(other.stderr).toMatch(/^surehand: The id twice belongs to another task .* nothing was started.*--again/);

    const again = parse((await bench.run([...args, '--again'])).stdout);
    expect(again.text).toBe('Once.');
    expect(again.runId).not.toBe(first.runId);
  });

  test('of a run that is open: the same task attaches, --again is refused, result has to wait', async () => {
    const workspace = await bench.workspace();
    const args = ['do it', '-w', workspace, '--model', await bench.script(WAITING), '--id', 'open'];
    const started = await bench.run(['start', ...args]);
    expect([started.code, started.stdout]).toEqual([0, 'open\n']);
    const following = [bench.start(['attach', 'open']), bench.start(['run', ...args])];
    const [again, early] = await Promise.all([bench.run(['start', ...args, '--again']), bench.run(['result', 'open'])]);
    await Promise.all(following.map((one) => one.said('● I wait.')));
    letGo(workspace);
    const [attached, same] = await Promise.all(following.map(({ finished }) => finished));
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('still open')]);
    expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('has not ended yet')]);
    expect([attached?.code, attached?.stdout]).toEqual([0, 'It is over.\n']);
    expect([same?.code, same?.stdout]).toEqual([0, 'It is over.\n']);
    expect(same?.stderr).toContain('running already');
  });
});

test('doctor with the daemon up → server, namespace, attributes, queues and runs are well, exit 0', async () => {
  const { code, stdout } = await bench.run(['doctor', '--json'], { env: { SUREHAND_MODEL: 'scripted:demo' } });
  const { checks } = JSON.parse(stdout) as { checks: readonly { id: string; state: string; detail: string }[] };
  const queue = `queue:surehand-host-${bench.daemon().hostId}`;
  expect(checks.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(code).toBe(0);
  expect(checks.map(({ id }) => id)).toEqual(
    expect.arrayContaining([
      'daemon',
      'namespace',
      'search-attributes',
      `${queue}:workflow`,
      `${queue}:activity`,
      'runs',
    ]),
  );
  expect(checks.find(({ id }) => id === `${queue}:activity`)?.detail).toMatch(
    /: steps are taken by surehand@[a-z2-7]{12}#\w+ \(asked (now|\d+ s ago), build test-build\)/,
  );
});

describe('an end before the end', () => {
  const startSleeping = async (id: string, ...flags: string[]) => {
    const workspace = await bench.workspace();
    const script = [{ text: 'I wait.', calls: [{ name: 'bash', input: { command: 'sleep 987654' } }] }, { text: 'x' }];
    const model = await bench.script(script);
    const running = bench.start(['run', 'sleep', '-w', workspace, '--model', model, '--id', id, ...flags]);
    await running.said('● I wait.');
    return running;
  };

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s → the run is cancelled within seconds, exit %d, the JSON is whole', async (signal, code) => {
    const id = `stop-${signal.toLowerCase()}`;
    const running = await startSleeping(id, '--json');
    const before = Date.now();
    running.child.kill(signal);
    const finished = await running.finished;
    expect(Date.now() - before).toBeLessThan(10_000);
    expect(finished.code).toBe(code);
    expect(parse(finished.stdout)).toMatchObject({ outcome: 'cancelled', isError: true, turns: 1 });
    expect((await bench.run(['result', id])).code).toBe(130);
  });

  test('attach: Ctrl-C leaves the run alone; cancel ends it, and a second cancel is fine', async () => {
    const first = await startSleeping('left-alone');
    const attached = bench.start(['attach', 'left-alone']);
    await attached.said('● I wait.');
    attached.child.kill('SIGINT');
    const left = await attached.finished;
    expect([left.code, left.stdout]).toEqual([130, '']);
    expect(left.stderr).toContain('The run goes on without this terminal.');
    const cancelled = await bench.run(['cancel', 'left-alone']);
    expect([cancelled.code, cancelled.stderr]).toEqual([0, expect.stringContaining('cancelled · 1 turn')]);
    expect((await first.finished).code).toBe(130);
    const twice = await bench.run(['cancel', 'left-alone']);
    expect([twice.code, twice.stderr]).toEqual([0, 'The run left-alone had ended already: cancelled.\n']);
  });

  test('kill -9 of the terminal’s process → nothing happens to the run', async () => {
    const workspace = await bench.workspace();
    const model = await bench.script(WAITING);
    const running = bench.start(['run', 'x', '-w', workspace, '--model', model, '--id', 'orphan']);
    await running.said('● I wait.');
    running.child.kill('SIGKILL');
    await once(running.child, 'exit');
    letGo(workspace);
    const attached = await bench.run(['attach', 'orphan']);
    expect([attached.code, attached.stdout]).toEqual([0, 'It is over.\n']);
    expect(attached.stderr).toContain('✓ 1.1');
  });
});

describe('kill -9', () => {
  const READING = [
    { text: 'One.', calls: [{ name: 'read_file', input: { path: 'x' } }] },
    { text: 'Two.', calls: [{ name: 'read_file', input: { path: 'x' } }], delayMs: 3_000 },
    { text: 'Three.' },
  ];

  test.each(['daemon', 'server', 'worker'] as const)(
    'of the %s → the same command follows it to its end',
    async (what) => {
      const workspace = await bench.workspace({ x: '1' });
      const model = await bench.script(READING);
      const running = bench.start(['run', 'read', '-w', workspace, '--model', model, '--id', `kill-${what}`]);
      await running.said('✓ 1.1');
      const { pid, serverPid, workerPid } = bench.daemon();
      const victim = { daemon: pid, server: serverPid, worker: workerPid }[what] ?? 0;
      process.kill(victim, 'SIGKILL');
      await waitFor('its end', () => !isAlive(victim));
      const { code, stdout, stderr } = await running.finished;
      expect([code, stdout]).toEqual([0, 'Three.\n']);
      expect(stderr).toMatch(/● One\.\n.*✓ 1\.1.*● Two\.\n.*✓ 2\.1.*done · 3 turns/s);
    },
  );
});

test('down → nothing is left running, also not by a command that follows; the next command brings the run back', async () => {
  const workspace = await bench.workspace();
  const running = bench.start(['run', 'x', '-w', workspace, '--model', await bench.script(WAITING), '--id', 'kept']);
  await running.said('● I wait.');
  const { pid, serverPid, workerPid } = bench.daemon();
  const first = await bench.run(['down']);
  expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('Nothing is left running')]);
  expect([pid, serverPid, workerPid].map((one) => isAlive(one ?? 0))).toEqual([false, false, false]);
  const second = await bench.run(['down']);
  expect([second.code, second.stderr]).toEqual([0, 'Nothing was running.\n']);
  const left = await running.finished;
  expect([left.code, left.stderr]).toEqual([6, expect.stringContaining('The local server and worker were stopped')]);
  expect((await bench.run(['down'])).stderr).toBe('Nothing was running.\n');
  letGo(workspace);
  expect(await bench.run(['attach', 'kept'])).toMatchObject({ code: 0, stdout: 'It is over.\n' });
}, 120_000);
