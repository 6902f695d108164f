import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createToolBench } from './tool-bench';
import type { ToolBench } from './tool-bench';

/** Seconds to sleep that no other test run on this machine uses: its processes are told by this number. */
const LONG = `${900_000 + (process.pid % 99_999)}.${process.pid}`;

/** Living processes whose arguments contain the text. */
function alive(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text);
      } catch {
        return false;
      }
    });
}

/** The supervisor, whose arguments hold the command too, goes last, a moment after the result; of the command nothing may live. */
async function expectNoneAlive(sandbox: 'strict' | 'off'): Promise<void> {
  if (sandbox === 'strict') expect(alive(`sleep\x00${LONG}`)).toEqual([]);
  const giveUpAt = Date.now() + 2000;
  while (alive(LONG).length > 0 && Date.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(alive(LONG)).toEqual([]);
}

describe.each(['strict', 'off'] as const)('bash, sandbox %s', (sandbox) => {
  let bench: ToolBench;
  beforeEach(() => {
    bench = createToolBench({ sandbox });
  });
  afterEach(() => {
    bench.close();
  });
  const bash = async (command: string, more: Record<string, unknown> = {}) =>
    await bench.call('bash', { command, ...more });

  test('output and exit code → both in the result, stderr in its place', async () => {
    const result = await bash('echo a; echo b >&2; echo c; echo d > /dev/stderr; exit 3');
    expect(result).toMatchObject({ status: 'failed', message: 'a\nb\nc\nd\n[exit code 3]', details: { exitCode: 3 } });
    expect(readFileSync(result.details!.outputFile!, 'utf8')).toBe('a\nb\nc\nd\n');
  });

  test('no output → says so', async () => {
    expect(await bash('true')).toMatchObject({ status: 'success', message: '(no output)\n[exit code 0]' });
  });

  test.each([
    ['a background job', `sleep ${LONG} & echo hi`],
    ['a subshell job', `(sleep ${LONG} &); echo hi`],
    ['a job that holds a pipe', `sleep ${LONG} 2>&1 | cat & echo hi`],
    ['nohup', `nohup sleep ${LONG} >/dev/null 2>&1 & echo hi`],
    ['a session of its own', `setsid sleep ${LONG} & echo hi`],
    ['a daemon', `(setsid sh -c "sleep ${LONG} & exit" &); echo hi`],
  ])('%s → the call ends with the shell, and nothing is left', async (_, command) => {
    const startedAt = Date.now();
    expect((await bash(command)).message).toBe('hi\n[exit code 0; what it left in the background has ended with it]');
    expect(Date.now() - startedAt).toBeLessThan(2000);
    await expectNoneAlive(sandbox);
  });

  test.each([
    ['loops and a sleep', `for i in 1 2 3; do (while :; do :; done)& done; sleep ${LONG}`],
    ['nested shells', `sh -c 'sh -c "sleep ${LONG}; :"; :'`],
    ['TERM ignored', `bash -c 'trap "" TERM; (sleep ${LONG}); sleep ${LONG}'`],
    ['stopped', `sleep ${LONG} & kill -STOP $$`],
  ])('timeout with %s → an error by deadline and grace, and nothing is left', async (_, command) => {
    const startedAt = Date.now();
    const result = await bash(command, { timeout_s: 0.5 });
    expect(result.status).toBe('failed');
    expect(result.message).toContain('timed out after 0.5 s and was killed');
    expect(Date.now() - startedAt).toBeLessThan(3500);
    await expectNoneAlive(sandbox);
  });

  test('timeout → what would have come later never comes', async () => {
    await bash('sleep 0.6; echo late > late.txt', { timeout_s: 0.2 });
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(existsSync(join(bench.workspace, 'late.txt'))).toBe(false);
  });

  test('a cancel → stops the command and says so', async () => {
    const abort = new AbortController();
    const running = bench.call('bash', { command: `touch begun; sleep ${LONG}` }, { signal: abort.signal });
    while (!existsSync(join(bench.workspace, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 5));
    abort.abort('cancelled');
    expect(await running).toMatchObject({ status: 'failed' });
    expect((await running).message).toContain('cancelled and killed');
    await expectNoneAlive(sandbox);
  });

  test('endless output → cut head and tail, named, bounded on disk', async () => {
    const result = await bash('yes');
    expect(result.message).toContain('killed because it wrote too much output');
    expect(result.message).toMatch(/\[… \d+ bytes left out here/u);
    expect(Buffer.byteLength(result.message)).toBeLessThanOrEqual(30_000);
    expect(readFileSync(result.details!.outputFile!).length).toBeLessThanOrEqual(64 * 1024 ** 2 + 512);
  });

  test('many small writes → none is lost', async () => {
    const result = await bash('for i in $(seq 5000); do echo $i; done');
    expect(readFileSync(result.details!.outputFile!, 'utf8').split('\n')).toHaveLength(5001);
  });

  test('a million two-byte characters → no cut falls inside one, and the number left out is true', async () => {
    const { message } = await bash(`printf 'é%.0s' $(seq 100000)`);
    expect(message).not.toContain('\ufffd');
    const left = Number(/\[… (\d+) bytes left out/u.exec(message)![1]);
    expect(left + 2 * (message.match(/é/gu)?.length ?? 0)).toBe(200_000);
  });

  test('input and terminal → none: nothing waits for a person', async () => {
    expect((await bash('read x; echo "got:$x"; cat; read y </dev/tty; echo rc=$?')).message).toMatch(
      /^got:\n.*\/dev\/tty.*\nrc=1\n\[exit code 0\]$/u,
    );
  });

  test('a file that a command makes → has the mode that the umask of the worker gives it', async () => {
    const before = process.umask(0o027);
    try {
      await bash('echo x > made; mkdir made.d');
    } finally {
      process.umask(before);
    }
    expect(bench.sh('stat -c %a made made.d')).toBe('640\n750\n');
  });

  test('a rebase that opens an editor → goes on with the prepared message', async () => {
    const script = `git init -q r && cd r && git config user.email a@b.c && git config user.name a
      echo one > f; git add f; git commit -qm base; git checkout -qb s; echo two > f; git commit -qam two
      git checkout -q -; echo three > f; git commit -qam three; git checkout -q s; git rebase - ; echo both > f; git add f
      git rebase --continue && git log --format=%s`;
    expect((await bash(script)).message).toMatch(/two\nthree\nbase\n\[exit code 0\]$/u);
  });

  test('control characters → visible escapes, no NUL', async () => {
    expect((await bash(String.raw`printf '\033[2J\0\033]0;x\aA\xc2\x9b2JB ok\rno\b'`)).message).toBe(
      String.raw`\x1b[2J\x00\x1b]0;x\x07A\x9b2JB ok\rno\x08` + '\n[exit code 0]',
    );
  });

  test('the environment → an allow-list; nothing carries over to the next call', async () => {
    await bash('export PAGER=evil PATH=/evil; cd /');
    const { message } = await bash('env | cut -d= -f1 | sort | tr "\\n" " "; pwd');
    expect(message).toBe(
      `CI EDITOR GIT_EDITOR GIT_PAGER GIT_TERMINAL_PROMPT HOME LANG PAGER PATH PWD SHLVL SUREHAND_CALL TERM VIMINIT VISUAL _ ${bench.workspace}\n[exit code 0]`,
    );
  });

  test('node of the worker → works', async () => {
    expect((await bash('node -p process.version')).message).toBe(`${process.version}\n[exit code 0]`);
  });

  test('cwd → inside the workspace only', async () => {
    bench.sh('mkdir -p sub; ln -s ../outside out; ln -s sub in');
    expect((await bash('pwd -P', { cwd: 'in' })).message).toBe(`${bench.workspace}/sub\n[exit code 0]`);
    for (const cwd of ['../outside', 'out', '/', bench.outside]) {
      expect(await bash('touch P', { cwd })).toMatchObject({ status: 'failed' });
    }
    expect(readdirSync(bench.outside)).toEqual([]);
  });

  test('a command that is too long for a process → refused with the way out', async () => {
    expect((await bash(`: ${'x'.repeat(130_000)}`)).message).toContain('Write a script file and run that.');
  });

  test.each([{ timeout_s: 0 }, { timeout_s: 1801 }, { timeout_s: 'soon' }])('%j → refused by name', async (more) => {
    expect((await bash('true', more)).message).toContain('`timeout_s`');
  });
});

describe('programs that want a person', () => {
  test('they get the end of their input and no terminal → go on or fail at once', async () => {
    const bench = createToolBench();
    try {
      const script =
        'python3 -c "input()" 2>&1 | tail -1; npm init >/dev/null 2>&1 </dev/null; echo "npm $?"; git commit -v; less f; vi f; nano f; man -P less ls; echo end';
      bench.sh('git init -q; git config user.email a@b.c; git config user.name a; echo text > f; git add f');
      const { message } = await bench.call('bash', { command: script, timeout_s: 20 });
      expect(message).toMatch(/^EOFError: EOF when reading a line\nnpm \d/u);
      expect(message).toMatch(/Aborting commit due to empty commit message/u);
      expect(message).toMatch(/end\n\[exit code 0\]$/u);
    } finally {
      bench.close();
    }
  });
});

describe('what a failure for lack of network says', () => {
  let bench: ToolBench;
  beforeAll(() => {
    bench = createToolBench();
  });
  afterAll(() => {
    bench.close();
  });

  test.each([
    ['curl', 'curl -sS http://registry.test/'],
    ['git', 'git ls-remote https://forge.test/a.git'],
    ['python', `python3 -c "import urllib.request as r; r.urlopen('http://registry.test/')"`],
    ['node', `node -e "require('http').get('http://registry.test/')"`],
    ['bash', 'exec 3<>/dev/tcp/registry.test/80'],
    ['an address', 'curl -sS --max-time 5 http://203.0.113.7/'],
  ])('%s → that there is none, and who can change it', async (_, command) => {
    const result = await bench.call('bash', { command });
    expect(result.status).toBe('failed');
    expect(result.message).toMatch(/\n\[Commands have no network here\. Trying again does not help/u);
  });

  test('another failure, or a success that mentions it → nothing of the kind', async () => {
    expect((await bench.call('bash', { command: 'echo no such file; exit 1' })).message).not.toContain('network');
    expect((await bench.call('bash', { command: 'echo Network is unreachable' })).message).not.toContain(
      'have no network',
    );
  });
});

test('detach → the promise ends with the reason, the command goes on', async () => {
  const bench = createToolBench();
  try {
    const abort = new AbortController();
    const running = bench.call('bash', { command: 'sleep 0.3; echo done > done.txt' }, { signal: abort.signal });
    while (!existsSync(join(bench.state, 'calls'))) await new Promise((resolve) => setTimeout(resolve, 2));
    abort.abort('detach');
    await expect(running).rejects.toBe('detach');
    const command = bench.runner.find('bench\nm-1');
    let state = await bench.runner.poll(command!);
    while (state.running) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      state = await bench.runner.poll(command!);
    }
    expect(state).toMatchObject({ end: 'exited', exitCode: 0 });
    expect(bench.bytes('done.txt').toString()).toBe('done\n');
  } finally {
    bench.close();
  }
});
