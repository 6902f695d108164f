import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { freePort } from '../support/free-port';
import { removeTempDirectories } from '../support/temp-directory';
import type { CliBench } from './support/cli-bench';
import { createCliBench } from './support/cli-bench';

let bench: CliBench;
let workspace: string;
let files: string;

beforeAll(async () => {
  bench = await createCliBench();
  workspace = await bench.workspace();
  files = await bench.workspace({
    'file.txt': 'x',
    'broken.yaml': 'turns:\n  - text: hi\n   calls: [}\n',
    'no-turns.yaml': 'text: hi\n',
    'big.yaml': `turns:\n  - text: ${'x'.repeat(520 * 1024)}\n`,
    'settings.json': '{ "limits": { "maxTurns": "many" } }',
    'broken.json': '{ "model": ',
    'tools.json': '{ "tools": ["./x.js"] }',
  });
});

afterAll(async () => {
  await bench.tearDown();
  await removeTempDirectories();
});

const FREE = ['--model', 'scripted:demo'];

describe('what cannot work is refused in one sentence, with exit 2, before anything is started', () => {
  test.each<[string, () => readonly string[], RegExp]>([
    ['no task', () => ['run'], /missing required argument 'task'/],
    ['an empty task', () => ['run', ' \n', ...FREE], /The task is empty/],
    ['an unknown flag', () => ['run', 'x', '--fast'], /unknown option '--fast'/],
    ['an unknown command', () => ['rum', 'x'], /unknown command 'rum'/],
    ['a surplus argument', () => ['run', 'fix', 'it', ...FREE], /too many arguments/],
    [
      'no key',
      () => ['run', 'x', '-w', workspace],
      /Set ANTHROPIC_API_KEY, or let a recorded model play: --model scripted:FILE/,
    ],
    ['no workspace', () => ['run', 'x', '-w', `${files}/none`, ...FREE], /none does not exist/],
    ['a file as workspace', () => ['run', 'x', '-w', `${files}/file.txt`, ...FREE], /file\.txt is not a directory/],
    ['no script', () => ['run', 'x', '--model', `scripted:${files}/none.yaml`], /none\.yaml cannot be read \(ENOENT\)/],
    ['a directory as script', () => ['run', 'x', '--model', `scripted:${files}`], /is not a file/],
    ['a script that is not there', () => ['run', 'x', '--model', 'scripted:nope'], /nor a shipped script named "nope"/],
    ['a script without name', () => ['run', 'x', '--model', 'scripted:'], /needs a file or a name/],
    ['a broken script', () => ['run', 'x', '--model', `scripted:${files}/broken.yaml`], /not valid YAML: line 3/],
    ['a script without turns', () => ['run', 'x', '--model', `scripted:${files}/no-turns.yaml`], /no list "turns:"/],
    ['a script of more than 512 KB', () => ['run', 'x', '--model', `scripted:${files}/big.yaml`], /at most 512 KB/],
    ['no settings file', () => ['run', 'x', '--settings', `${files}/none.json`, ...FREE], /none\.json cannot be read/],
    ['a wrong setting', () => ['list', '--settings', `${files}/settings.json`], /limits\.maxTurns/],
    ['broken settings', () => ['down', '--settings', `${files}/broken.json`], /is not valid JSON/],
    ['a bad limit', () => ['run', 'x', '--max-turns', '0', ...FREE], /--max-turns.*whole number above zero/],
    ['a bad time', () => ['run', 'x', '--max-time', 'soon', ...FREE], /--max-time.*90s, 10m or 2h/],
    ['a bad mode', () => ['run', 'x', '--mode', 'yolo', ...FREE], /--mode.*auto, ask, read-only/],
    ['two forms of output', () => ['run', 'x', '--json', '--stream-json', ...FREE], /cannot be used with/],
    ['a bad id', () => ['run', 'x', '--id', 'a b', ...FREE], /"a b" cannot be an id/],
    ['requests dumped into a file', () => ['run', 'x', '--dump-requests', `${files}/file.txt`, ...FREE], /is a file/],
    ['tools in the settings of a run', () => ['run', 'x', '--settings', `${files}/tools.json`, ...FREE], /names tools/],
    ['a number of lines that is none', () => ['logs', '--lines', 'all'], /--lines.*must be a whole number/],
    ['a worker without a server', () => ['worker'], /Set TEMPORAL_ADDRESS/],
  ])('%s', async (_name, args, message) => {
    const { code, stdout, stderr } = await bench.run(args(), { stdin: '' });
    expect(stderr).toMatch(message);
    expect([code, stdout, stderr.trimEnd().split('\n').length <= 2]).toEqual([2, '', true]);
    expect(stderr).toMatch(/^surehand: /);
    expect(existsSync(path.join(bench.home, 'daemon.json'))).toBe(false);
  });

  test('a piped task of more than 128 KB', async () => {
    const { code, stderr } = await bench.run(['run', '-', ...FREE], { stdin: 'x'.repeat(200_000) });
    expect([code, stderr]).toEqual([2, expect.stringContaining('more than 128 KB')]);
  });

  test('a workspace without write permission', async () => {
    const directory = path.join(await bench.workspace(), 'locked');
    mkdirSync(directory);
    chmodSync(directory, 0o555);
    // Root may write anywhere; another user is told.
    const isRoot = process.getuid?.() === 0;
    const script = await bench.script([{ text: 'x' }]);
    if (isRoot) for (const place of [path.dirname(bench.home), path.dirname(directory)]) chmodSync(place, 0o755);
    const args = ['run', 'x', '-w', directory, '--model', script];
    const { code, stderr } = await bench.run(args, isRoot ? { uid: 65_534, env: { HOME: '/nonexistent' } } : {});
    expect([code, stderr]).toEqual([2, expect.stringMatching(/locked cannot be written \(EACCES\).*--mode read-only/)]);
  });

  test('no command at all → the help, on stderr', async () => {
    const { code, stdout, stderr } = await bench.run([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Start here:');
  });
});

test.each([...'run chat send abandon worker logs doctor'.split(' ')])(
  '%s --help → on stdout, exit 0',
  async (command) => {
    const { code, stdout, stderr } = await bench.run([command, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: surehand ${command}`));
  },
);

describe('Temporal', () => {
  test('that nobody serves at the address → exit 6 within seconds', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const before = Date.now();
    const { code, stdout, stderr } = await bench.run(['list'], { env: { TEMPORAL_ADDRESS: address } });
    expect(Date.now() - before).toBeLessThan(8_000);
    expect([code, stdout]).toEqual([6, '']);
    expect(stderr).toMatch(
      new RegExp(
        `^surehand: No Temporal server is reachable at ${address}: nothing listens there .*\\. Start it, .*\n$`,
      ),
    );
  });

  test('that refuses the credentials → exit 3', async () => {
    const server = createServer();
    server.on('stream', (stream) => {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16', 'grpc-message': 'no' },
        { endStream: true },
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stderr } = await bench.run(['list'], { env: { TEMPORAL_ADDRESS: address } });
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^surehand: Temporal at \S+ refused the credentials\. Look at .*\n$/),
    ]);
    server.close();
  });

  test('without the namespace → exit 2 and its name', async () => {
    const env = { TEMPORAL_ADDRESS: process.env['SUREHAND_TEST_TEMPORAL'], TEMPORAL_NAMESPACE: 'nowhere' };
    const { code, stderr } = await bench.run(['list'], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('has no namespace "nowhere"')]);
  });

  test('with a server of one’s own and no worker: start says what is missing, cancel says why nothing ends, send stores, abandon ends it', async () => {
    const env = {
      TEMPORAL_ADDRESS: process.env['SUREHAND_TEST_TEMPORAL'],
      SUREHAND_QUEUE_PREFIX: `cli-${process.pid}`,
    };
    const started = await bench.run(['start', 'x', '-w', workspace, '--id', `alone-${process.pid}`, ...FREE], { env });
    expect([started.code, started.stdout]).toEqual([0, `alone-${process.pid}\n`]);
    expect(started.stderr).toContain('Start one here: surehand worker');
    const cancelled = await bench.run(['cancel', `alone-${process.pid}`], { env });
    expect(cancelled.code).toBe(6);
    expect(cancelled.stderr).toMatch(
      /The cancellation is stored, but .* No worker takes workflow tasks from the queue cli-/,
    );
    const sent = await bench.run(['send', `alone-${process.pid}`, 'hello'], { env });
    expect([sent.code, sent.stderr]).toEqual([0, 'Stored; it takes effect when a worker starts.\n']);
    const abandoned = await bench.run(['abandon', `alone-${process.pid}`], { env });
    expect([abandoned.code, abandoned.stderr]).toEqual([
      0,
      expect.stringMatching(/^unavailable · .*\n {2}abandoned by tester: its host \w+ is gone/),
    ]);
    const late = await bench.run(['send', `alone-${process.pid}`, 'hello'], { env });
    expect([late.code, late.stderr]).toEqual([
      2,
      expect.stringContaining('has ended, so it takes nothing in any more'),
    ]);
    expect((await bench.run(['result', `alone-${process.pid}`], { env })).code).toBe(6);
    const down = await bench.run(['down'], { env });
    expect([down.code, down.stderr]).toEqual([2, expect.stringContaining('a server that surehand did not start')]);
  });
});

describe('an id that is not there', () => {
  test.each(['attach', 'show', 'result', 'cancel', 'abandon'])('%s → exit 2 and where to look', async (command) => {
    const { code, stdout, stderr } = await bench.run([command, 'no-such-run']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/surehand: There is no run with the id no-such-run\. The runs there are: surehand list\n$/);
  });
});

test('list in a state directory that was never used → says how to start, starts nothing', async () => {
  const home = path.join(await bench.workspace(), 'unused');
  const { code, stdout, stderr } = await bench.run(['list'], { env: { SUREHAND_HOME: home } });
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toMatch(/^There are no runs\. Start one: /);
  expect(existsSync(home)).toBe(false);
});

test('a state directory that cannot be used → exit 2 and its name', async () => {
  const file = path.join(await bench.workspace(), 'file');
  writeFileSync(file, '');
  const { code, stderr } = await bench.run(['run', 'x', '-w', workspace, ...FREE], { env: { SUREHAND_HOME: file } });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/The state directory .*file cannot be used/)]);
});
