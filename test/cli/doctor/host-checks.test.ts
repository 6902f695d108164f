import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../../src/config';
import { checkDaemon, checkNode, checkTemporalBinary } from '../../../src/cli/doctor/program-checks';
import { checkSandbox } from '../../../src/cli/doctor/sandbox-checks';
import { checkSpace, checkStateDirectory, checkUsage } from '../../../src/cli/doctor/state-checks';
import type { DaemonRecord } from '../../../src/server/daemon-record';
import { findBwrap } from '../../support/bwrap';
import { removeTempDirectories, tempDirectory } from '../../support/temp-directory';

let directory: string;

beforeEach(async () => {
  directory = await tempDirectory('doctor');
});

afterEach(removeTempDirectories);

/** The configuration of this machine with a state directory and settings of its own. */
function config(env: Readonly<Record<string, string>> = {}) {
  writeFileSync(path.join(directory, 'settings.json'), '{}');
  const base = {
    SUREHAND_SETTINGS: path.join(directory, 'settings.json'),
    SUREHAND_HOME: path.join(directory, 'home'),
  };
  const { PATH = '', HOME = '', XDG_CACHE_HOME = '' } = process.env;
  return loadConfig({ PATH, HOME, XDG_CACHE_HOME, ...base, ...env });
}

function program(name: string, script: string): string {
  const file = path.join(directory, name);
  writeFileSync(file, `#!/bin/bash\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe('node', () => {
  test.each([
    ['20.19.0', 'ok'],
    ['22.1.0', 'ok'],
    ['20.18.9', 'fail'],
    ['18.20.4', 'fail'],
  ])('%s → %s', async (version, state) => {
    await expect(checkNode(version)).resolves.toMatchObject({
      id: 'node',
      state,
      detail: expect.stringContaining(version),
    });
  });
});

describe('temporal-binary', () => {
  test('the one that set-up fetched → ok, its version', async () => {
    await expect(checkTemporalBinary(config())).resolves.toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/^temporal version 1\.\d+\.\d+ .* · \/.*temporal$/),
    });
  });

  test('none, or only one that is too old → fail, how to fetch it', async () => {
    program('temporal', 'echo temporal version 1.2.0');
    const env = { PATH: directory, HOME: directory, XDG_CACHE_HOME: '' };
    await expect(checkTemporalBinary(config(env))).resolves.toEqual({
      id: 'temporal-binary',
      state: 'fail',
      detail: 'Temporal’s command line (temporal 1.9.1 or later) is not installed.',
      why: 'It is the local Temporal server; a configured one does without it.',
      mend: 'Fetch it: npm run setup',
    });
  });

  test('with a server of one’s own → ok, not needed', async () => {
    const env = { PATH: '', HOME: directory, TEMPORAL_ADDRESS: 'team.example:7233' };
    await expect(checkTemporalBinary(config(env))).resolves.toMatchObject({
      state: 'ok',
      detail: 'not needed: the server is team.example:7233',
    });
  });
});

describe('daemon', () => {
  const record: DaemonRecord = {
    pid: 7,
    startTime: '1',
    state: 'ready',
    build: 'new',
    configDigest: 'd',
    hostId: 'h',
    namespace: 'default',
    startedAt: '',
  };
  test.each<[string, DaemonRecord | undefined, object]>([
    ['none → ok', undefined, { state: 'ok', detail: 'no daemon runs; build of this program: new' }],
    ['of this build → ok', record, { state: 'ok', detail: 'ready (pid 7), build new like this program' }],
    [
      'of another build → warn',
      { ...record, build: 'old' },
      { state: 'warn', detail: 'the daemon (pid 7) is of build old, this program of build new' },
    ],
    [
      'given up → fail, with the reason',
      { ...record, state: 'failed', problem: 'the worker cannot start: EACCES' },
      { state: 'fail', detail: 'the daemon (pid 7) has given up: the worker cannot start: EACCES' },
    ],
  ])('%s', async (_, found, expected) => {
    await expect(checkDaemon(found, { build: 'new', command: 'surehand' })).resolves.toMatchObject(expected);
  });
});

describe('sandbox', () => {
  test('a bwrap that works → one check for each property, ok; no state directory is made', async () => {
    const checks = await checkSandbox(config({ SUREHAND_BWRAP: findBwrap() }));
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(checks[0]?.id).toBe('sandbox');
    const named = ['workspace', 'secret', 'shadow', 'loopback', 'processes', 'namespaces', 'system', 'outside'];
    expect(checks.map(({ id }) => id)).toEqual(expect.arrayContaining(named.map((name) => `sandbox:${name}`)));
    expect(existsSync(path.join(directory, 'home'))).toBe(false);
  });

  const failedWith = async (script: string): Promise<string[]> => {
    const checks = await checkSandbox(config({ SUREHAND_BWRAP: program('bwrap', script) }));
    expect(checks[0]).toMatchObject({
      id: 'sandbox',
      state: 'fail',
      mend: expect.stringContaining('seccomp=unconfined'),
    });
    return checks.slice(1).flatMap(({ id, state }) => (state === 'fail' ? [id.slice('sandbox:'.length)] : []));
  };
  /** Runs the real one without these arguments. */
  const without = (dropped: string) =>
    `args=(); for a in "$@"; do case $a in ${dropped}) ;; *) args+=("$a");; esac; done; set -- "\${args[@]}"`;

  test('one that leaves out namespaces → fail, and just the properties that do not hold', async () => {
    const dropped = '--unshare-net|--unshare-ipc|--unshare-pid|--disable-userns';
    await expect(failedWith(`${without(dropped)}; exec ${findBwrap()} "$@"`)).resolves.toEqual([
      'loopback',
      'processes',
      'namespaces',
      'ipc',
    ]);
  });

  test('one that shows the whole root, with what is beside the workspace writable → fail, for each', async () => {
    const script = `
set_env=(); for ((i = 1; i <= $#; i++)); do [ "\${!i}" = --setenv ] && { n=$((i + 1)); v=$((i + 2)); set_env+=(--setenv "\${!n}" "\${!v}"); }; done
while [ "$1" != -- ]; do shift; done; shift
roots=(--ro-bind / / --bind ${tmpdir()} ${tmpdir()} --dev /dev --proc /proc)
exec ${findBwrap()} "\${roots[@]}" --json-status-fd 3 "\${set_env[@]}" "$@"`;
    await expect(failedWith(script)).resolves.toEqual(expect.arrayContaining(['secret', 'shadow', 'outside']));
  });

  test('one with a writable /usr, a terminal, a capability, a workspace that is read-only → fail, for that alone', async () => {
    const withMore = (more: string) =>
      `n=(); for a in "$@"; do [ "$a" = -- ] && n+=(${more}); n+=("$a"); done; exec ${findBwrap()} "\${n[@]}"`;
    const usr =
      '--tmpfs /usr --ro-bind /usr/bin /usr/bin --ro-bind /usr/lib /usr/lib --ro-bind-try /usr/lib64 /usr/lib64';
    await expect(failedWith(withMore(usr))).resolves.toEqual(['system']);
    const inTerminal = `${without('--new-session')}; export SHELL=/bin/bash
exec script -qec "stty -opost; exec ${findBwrap()} $(printf '%q ' "$@")" /dev/null`;
    await expect(failedWith(inTerminal)).resolves.toEqual(['terminal']);
    await expect(failedWith(withMore('--cap-add CAP_CHOWN'))).resolves.toEqual(['capabilities']);
    const readOnly = `exec ${findBwrap()} "\${@/#--bind/--ro-bind}"`;
    await expect(failedWith(readOnly)).resolves.toEqual(['workspace']);
  });

  test.each<[string, () => Readonly<Record<string, string>>, object]>([
    [
      'bwrap is “false” → fail',
      () => ({ SUREHAND_BWRAP: '/bin/false' }),
      { state: 'fail', detail: expect.stringContaining('ended without running anything') },
    ],
    [
      'a bwrap that is not there → fail',
      () => ({ SUREHAND_BWRAP: '/no/bwrap' }),
      { state: 'fail', detail: expect.stringContaining('bwrap is not at /no/bwrap') },
    ],
    [
      'no bwrap at all → fail, how to get it',
      () => ({ PATH: '', HOME: directory, XDG_CACHE_HOME: '' }),
      { state: 'fail', detail: 'bwrap is not installed', mend: expect.stringContaining('npm run setup') },
    ],
    [
      'switched off → warn',
      () => ({ SUREHAND_SANDBOX: 'off' }),
      { state: 'warn', detail: 'switched off: commands run without a sandbox' },
    ],
  ])('%s', async (_, env, expected) => {
    const [sandbox, ...more] = await checkSandbox(config(env()));
    expect(sandbox).toMatchObject({ id: 'sandbox', ...expected });
    expect(more).toEqual([]);
  });
});

describe('state-directory', () => {
  test('on a disk → ok; one that is not there yet is not made', async () => {
    const home = path.join(directory, 'not', 'yet');
    await expect(checkStateDirectory(home, () => 0xef53)).resolves.toMatchObject({
      state: 'ok',
      detail: `${home} (ext), not made yet`,
      mend: null,
    });
  });

  test('in memory, really → warn', async () => {
    const home = await mkdtemp('/dev/shm/surehand-doctor-');
    try {
      await expect(checkStateDirectory(home)).resolves.toMatchObject({
        state: 'warn',
        detail: expect.stringContaining('(tmpfs) lies in memory'),
        mend: 'Set SUREHAND_HOME to a directory on a disk.',
      });
    } finally {
      await rm(home, { recursive: true });
    }
  });

  test.each([
    ['nfs', 0x6969],
    ['smb2', 0xfe534d42],
    ['cifs', 0xff534d42],
    ['fuse', 0x65735546],
    ['9p', 0x01021997],
    ['ceph', 0x00c36400],
  ])('on %s → warn, locks may not hold', async (kind, code) => {
    await expect(checkStateDirectory(directory, () => code)).resolves.toMatchObject({
      state: 'warn',
      detail: expect.stringContaining(`(${kind}) may lie on another machine`),
      mend: expect.stringContaining('local disk'),
    });
  });

  test('a file in its place → fail; below a file too', async () => {
    writeFileSync(path.join(directory, 'file'), '');
    for (const home of ['file', 'file/below']) {
      await expect(checkStateDirectory(path.join(directory, home))).resolves.toMatchObject({
        state: 'fail',
        detail: expect.stringContaining('is not a directory'),
        mend: expect.stringContaining('SUREHAND_HOME'),
      });
    }
  });
});

describe('disk-space', () => {
  test('enough → ok, little → warn, hardly any → fail', async () => {
    const check = (warnBytes: number, failBytes: number) => checkSpace(directory, { warnBytes, failBytes });
    await expect(check(1, 1)).resolves.toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/^[\d.]+ [KMG]B free for /),
    });
    await expect(check(1e18, 1)).resolves.toMatchObject({ state: 'warn' });
    await expect(check(1e18, 1e18)).resolves.toMatchObject({
      state: 'fail',
      mend: expect.stringContaining('Free some space'),
    });
  });
});

describe('state-usage', () => {
  test('nothing, then each part with its size', async () => {
    await expect(checkUsage(path.join(directory, 'none'))).resolves.toMatchObject({
      state: 'ok',
      detail: 'nothing yet',
    });
    mkdirSync(path.join(directory, 'calls', 'a'), { recursive: true });
    writeFileSync(path.join(directory, 'calls', 'a', 'intent.json'), 'x'.repeat(3000));
    writeFileSync(path.join(directory, 'temporal.db'), 'x'.repeat(10_000));
    await expect(checkUsage(directory)).resolves.toMatchObject({
      detail: 'history 9.8 KB in 1 file · calls 2.9 KB in 1 file',
    });
  });
});
