import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endBackground } from '../../src/workspace/background-commands';
import { createCommandRunner } from '../../src/workspace/command-runner';
import { probeSandbox } from '../../src/workspace/sandbox-probe';
import { DEFAULT_LIMITS, sandboxArgv } from '../../src/workspace/sandbox-profile';
import { findBwrap } from '../support/bwrap';
import { createToolBench } from '../tools/tool-bench';
import type { ToolBench } from '../tools/tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
  bench.sh(
    'echo secret > ../outside/p; git init -q .; mkdir -p .git/modules/a; cp -r .git/hooks .git/HEAD .git/config .git/modules/a/; mkdir .git/modules/a/b; mv .git/modules/a/hooks .git/modules/a/HEAD .git/modules/a/config .git/modules/a/b',
  );
});
afterEach(async () => {
  await endBackground(bench.state, 'bench');
  bench.close();
});
const bash = async (command: string, more: Record<string, unknown> = {}) =>
  await bench.call('bash', { command, ...more });

describe('escape attempts', () => {
  test.each([
    ['write outside', 'echo x > ../outside/x'],
    ['write by a link', 'ln -s "$PWD/../outside" o; echo x > o/x'],
    ['read outside', 'cat ../outside/p'],
    ['read a link', 'ln -s "$PWD/../outside/p" l; cat l'],
    ['write /usr', 'touch /usr/x'],
    ['read shadow', 'cat /etc/shadow'],
    ['new user namespace', 'unshare --user true'],
    ['mount', 'mount -t tmpfs none /mnt'],
    ['rename .git away from under its pins', 'mv .git .g2 && mkdir .git'],
    ['write .git/config', 'echo x >> .git/config'],
    ['git config', 'git config core.fsmonitor "touch P;:"'],
    ['plant a hook', 'echo x > .git/hooks/pre-commit'],
    ['replace the hooks directory', 'rm -rf .git/hooks && mkdir .git/hooks'],
    ['resolve a name', 'getent hosts example.test'],
    ['see a process of the host', `kill -0 ${process.pid}`],
    ['open a terminal', 'exec 3<>/dev/tty'],
    ['hard link from outside', 'ln ../outside/p h'],
    ['set what the kernel starts at a crash', ': >>/proc/sys/kernel/core_pattern'],
    ['set the memory of the host', 'echo 1 >/proc/sys/vm/drop_caches'],
    ['a magic key of the kernel', 'echo h >/proc/sysrq-trigger'],
    ['read the memory of the host', 'head -c 1 /proc/kcore'],
    ["the host's keys for TLS", 'ls /etc/ssl/private/'],
    ['fill the memory below /', 'touch /x'],
    ['fill the memory below /dev', 'touch /dev/x'],
    ['fill the memory below /dev/shm', 'head -c 600000000 /dev/zero >/dev/shm/x'],
    ['fill the memory below /run', 'head -c 600000000 /dev/zero >/run/x'],
    ['a device', 'mknod n b 8 0'],
    [
      'trace the first process of the host',
      'cat /proc/1/environ | tr "\\0" "\\n" | grep -v "^\\(SUREHAND_CALL\\|PATH\\|PWD\\|SHLVL\\)="',
    ],
    ['a name by UDP', 'echo x >/dev/udp/198.51.100.1/53'],
    ['ssh', 'ssh -o BatchMode=yes -o ConnectTimeout=1 git@forge.test'],
    ['an abstract socket of the host', 'grep -q @ /proc/net/unix'],
    ['a namespace for mounts', 'unshare --mount true'],
    ['another root', 'chroot . /bin/true'],
    ['undo a pin', 'umount .git/config'],
    ['undo a pin by a mount over it', 'mount --bind /tmp .git/hooks'],
    ['a submodule’s configuration', 'echo x >>.git/modules/a/b/config'],
    ['a hook of a submodule', 'echo x >.git/modules/a/b/hooks/post-checkout'],
    ['the pinned directory’s own mode', 'chmod 777 .git/hooks'],
  ])('%s → fails', async (_, command) => {
    const result = await bash(command);
    expect(result).toMatchObject({ status: 'failed' });
    expect(result.message).not.toMatch(/^secret/mu);
    expect(readdirSync(bench.outside)).toEqual(['p']);
    expect(existsSync(join(bench.workspace, '.git/hooks/pre-commit'))).toBe(false);
  });

  test("a listener on the host's loopback → not reachable", async () => {
    let reached = 0;
    const server = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      expect(await bash(`exec 3<>/dev/tcp/127.0.0.1/${port}`)).toMatchObject({ status: 'failed' });
    } finally {
      server.close();
    }
    expect(reached).toBe(0);
  });

  test("the worker's environment → not readable through /proc", async () => {
    const canary = 'canary-4711';
    process.env['SUREHAND_TEST_CANARY'] = canary;
    try {
      const result = await bash('cat /proc/*/environ /proc/$PPID/environ | tr "\\0" "\\n"; ps e 2>&1; export -p; env');
      expect(result.message).toContain('HOME=/tmp/home');
      expect(result.message).not.toContain(canary);
    } finally {
      delete process.env['SUREHAND_TEST_CANARY'];
    }
  });

  test('files that shells read at start → not run', async () => {
    bench.sh('for f in .bashrc .profile .bash_profile .envrc; do echo "touch P" > $f; done');
    await bash('true');
    expect(existsSync(join(bench.workspace, 'P'))).toBe(false);
  });

  test('read_only → the workspace cannot be written, whatever the command tries', async () => {
    bench.sh('echo old > f');
    const result = await bash(`x='$(touch F)'; echo \${x@P}; echo new > f; git add f; rm -f f; mv f g`, {
      read_only: true,
    });
    expect(result.message).toContain('Read-only file system');
    expect(bench.sh('cat f; ls -A')).toBe('old\n.git\nf\n');
    expect(bench.sh('git status --porcelain')).toBe('?? f\n');
  });
});

describe('what must work', () => {
  test('git commits, branches and stash → work; the status is the same before and after a command that does nothing', async () => {
    bench.sh(
      'git config user.email a@b.c; git config user.name a; echo 1 > f; git add f; git commit -qm one; echo 2 > f',
    );
    const before = bench.sh('git status --porcelain; find .git -type f | sort');
    expect((await bash('true')).status).toBe('success');
    expect(bench.sh('git status --porcelain; find .git -type f | sort')).toBe(before);
    expect(
      await bash('git checkout -qb x && git commit -qam two && git stash list && git log --oneline | wc -l'),
    ).toMatchObject({
      status: 'success',
      message: '2\n[exit code 0]',
    });
  });

  test('a repository without hooks or config of its own → no ghost files', async () => {
    bench.sh('rm -rf .git; mkdir .git');
    await bash('true');
    expect(bench.sh('find .git')).toBe('.git\n');
  });

  test('a linked worktree → git works in it, its configuration is pinned', async () => {
    bench.sh(`git config user.email a@b.c; git config user.name a; git commit -qm base --allow-empty
      git worktree add -q ../outside/tree`);
    const tree = join(bench.outside, 'tree');
    const runner = createCommandRunner({
      stateDirectory: bench.state,
      workspace: tree,
      sandbox: { mode: 'strict', bwrapPath: findBwrap() },
      nodePath: process.execPath,
    });
    const script =
      'echo x > f && git add f && git commit -qm x && git log --oneline | wc -l; git config a.b c; rm .git';
    const command = await runner.start({ callId: 'tree', command: script, timeoutMs: 10_000 });
    while ((await runner.poll(command)).running) await new Promise((resolve) => setTimeout(resolve, 5));
    const { head } = await runner.output(command, { headBytes: 5000, tailBytes: 0 });
    expect(head).toMatch(/^2\n/u);
    expect(head).toMatch(/could not (?:lock|write) config file/u);
    expect(head).toContain("cannot remove '.git'");
  });

  test('a forged .git file that names a repository outside → that is not mounted', async () => {
    bench.sh(`rm -rf .git; mkdir ../outside/g; cd ../outside/g; echo . > commondir; echo /elsewhere/.git > gitdir
      echo secret > s; cd -; echo "gitdir: $PWD/../outside/g" > .git`);
    const result = await bash('cat ../outside/g/s; echo x > ../outside/g/x');
    expect(result.status).toBe('failed');
    expect(result.message).not.toMatch(/^secret/mu);
    expect(readdirSync(join(bench.outside, 'g')).sort()).toEqual(['commondir', 'gitdir', 's']);
  });

  test('loopback inside, node, python, a compiler → work', async () => {
    const server = `require('http').createServer((q, r) => r.end('pong')).listen(0, function () {
      require('http').get({ port: this.address().port }, (r) => r.pipe(process.stdout).on('close', () => process.exit()))
      setTimeout(() => process.exit(), 500) })`;
    bench.put('s.js', server);
    expect(
      (await bash("node s.js; echo; python3 -c \"import subprocess; print(subprocess.check_output(['echo', 'py']))\""))
        .message,
    ).toBe("pong\nb'py\\n'\n[exit code 0]");
  });

  test('a file larger than the limit → the command is stopped, others are not', async () => {
    const result = await bash('head -c 3000000000 /dev/zero > /tmp/big; echo rc=$?');
    expect(result.message).toMatch(/rc=(?:1|153)\n\[exit code 0\]$/u);
  });
});

describe('probe', () => {
  const probe = { nodePath: process.execPath, scratchDirectory: tmpdir() };

  test('a bwrap that works → strict, each property named', async () => {
    const result = await probeSandbox({ ...probe, bwrapPath: findBwrap() });
    expect(result).toMatchObject({ mode: 'strict', detail: 'bwrap holds all 13 properties of the strict profile' });
    expect(result.checks.every((check) => check.holds)).toBe(true);
  });

  test('no bwrap → broken, says what to do', async () => {
    expect(await probeSandbox({ ...probe, bwrapPath: '/no/bwrap' })).toMatchObject({
      mode: 'broken',
      detail: 'bwrap is not at /no/bwrap; run the set-up again or install bubblewrap',
    });
  });

  test('a bwrap that cannot make namespaces → broken, with its own words', async () => {
    const fake = join(bench.outside, 'bwrap');
    writeFileSync(fake, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n');
    chmodSync(fake, 0o755);
    expect(await probeSandbox({ ...probe, bwrapPath: fake })).toMatchObject({
      mode: 'broken',
      detail: 'bwrap: No permissions to create new namespace',
      checks: [],
    });
  });

  test('a bwrap that shares the network and shows the host → broken, names what does not hold', async () => {
    const fake = join(bench.outside, 'bwrap');
    writeFileSync(
      fake,
      `#!/bin/bash
args=()
for a in "$@"; do case $a in --unshare-net|--unshare-pid|--disable-userns) ;; *) args+=("$a");; esac; done
exec ${findBwrap()} "\${args[@]}"
`,
    );
    chmodSync(fake, 0o755);
    const result = await probeSandbox({ ...probe, bwrapPath: fake });
    expect(result.mode).toBe('broken');
    expect(result.detail).toContain("the host's network cannot be reached");
    expect(result.detail).toContain('processes of the host are invisible');
  });
});

test("the profile never binds all of /etc, the root or the host's /proc", () => {
  const argv = sandboxArgv(
    {
      bwrapPath: '/bwrap',
      workspace: '/w',
      readOnly: false,
      cwd: '/w',
      git: { directories: ['/w/.git'], pinned: ['/w/.git/config'] },
      toolchains: [],
      environment: { A: 'b' },
      limits: DEFAULT_LIMITS,
    },
    ['true'],
  );
  const binds = argv.flatMap((word, at) => (/^--(?:ro-)?bind(?:-try)?$/u.test(word) ? [argv[at + 1]] : []));
  const rest = binds.filter((path) => !path!.startsWith('/etc/'));
  expect(rest.filter((path) => !path!.startsWith('/proc/'))).toEqual(['/usr', '/w', '/w/.git', '/w/.git/config']);
  expect(rest).toContain('/proc/sys');
  expect(
    binds.filter((path) => path!.startsWith('/proc/') && argv[argv.indexOf(path!) - 1] !== '--ro-bind-try'),
  ).toEqual([]);
  expect(binds.filter((path) => ['/etc', '/etc/ssl', '/etc/ssl/private', '/etc/pki'].includes(path!))).toEqual([]);
  expect(argv.slice(-8).join(' ')).toBe('--clearenv --setenv A b -- /usr/bin/prlimit --nproc=4096 true');
});

describe('beside a command that runs in the background', () => {
  // It could swap it with a link to anywhere between the look at it and the mount.
  test('what of git came up while it ran → is not mounted until it has ended; what was there is', async () => {
    const mounts = `grep -o ' [^ ]*/[.]git[^ ]* ' /proc/self/mountinfo | sed "s#$PWD/##"`;
    await bash(
      'mkdir -p .git/modules/a/new; cp .git/HEAD .git/modules/a/new; touch .git/modules/a/new/config ready; sleep 100',
      {
        background: true,
      },
    );
    while (!existsSync(join(bench.workspace, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 5));
    const beside = (await bash(mounts)).message;
    expect(beside).toContain(' .git/hooks ');
    expect(beside).not.toContain('new/config');
    await bench.call('bash_kill', { id: 'm-1' });
    expect((await bash(mounts)).message).toContain(' .git/modules/a/new/config ');
  });

  test('a directory that it swaps with a link all the time → a search shows nothing from outside', async () => {
    bench.sh('mkdir d; echo inside > d/p; ln -s ../outside e');
    const swap = `python3 -c "
import ctypes
libc = ctypes.CDLL(None); open('ready', 'w')
while True: libc.renameat2(-100, b'd', -100, b'e', 2)
"`;
    await bash(swap, { background: true });
    while (!existsSync(join(bench.workspace, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 5));
    for (let n = 0; n < 10; n += 1) {
      expect((await bench.call('grep', { pattern: 'secret|inside' })).message).not.toContain('secret');
    }
    await bench.call('bash_kill', { id: 'm-1' });
  });
});

test('nothing is left running by these tests', () => {
  expect(
    execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(bench.workspace)),
  ).toEqual([]);
});
