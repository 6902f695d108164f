import { spawn } from 'node:child_process';
import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import type { SandboxState } from '../contract/activity';
import { commandEnvironment } from './command-environment';
import { DEFAULT_LIMITS, sandboxArgv } from './sandbox-profile';
import { findToolchain } from './toolchain';
import type { Toolchain } from './toolchain';

export interface ProbeOptions {
  readonly bwrapPath: string;
  readonly nodePath: string;
  /** More to bind: one that cannot be would break every command. */
  readonly toolchains?: readonly Toolchain[];
  /** A directory in which a scratch directory may be made. */
  readonly scratchDirectory: string;
  /** Default 10 s. */
  readonly timeoutMs?: number;
}

export interface ProbeCheck {
  /** Short and stable, for programs. */
  readonly name: string;
  /** For people: what holds, or should. */
  readonly property: string;
  readonly holds: boolean;
}

export interface ProbeResult extends SandboxState {
  /** Each property that was tried; empty when the sandbox could not even be set up. */
  readonly checks: readonly ProbeCheck[];
}

/** What is tried from inside, each printed as `<name> yes|no`. What it needs comes in the environment. */
const PROBE_SCRIPT = `
say() { if eval "$2" >/dev/null 2>&1; then echo "$1 yes"; else echo "$1 no"; fi; }
touch "$OUTSIDE/escaped" 2>/dev/null
say workspace 'touch "$WORKSPACE/written"'
say secret '! cat "$OUTSIDE/secret"'
say shadow '! test -e /etc/shadow'
say loopback '! (exec 3<>/dev/tcp/127.0.0.1/$PORT)'
say processes 'test "$(ls -d /proc/[0-9]* | wc -l)" -lt 12 && test "$(readlink /proc/self/ns/pid)" != "$HOST_PIDS"'
say namespaces '! unshare --user true'
say system '! touch /usr/surehand-probe'
say kernel '! (: >>/proc/sys/kernel/core_pattern)'
say memory '! touch /surehand-probe && ! touch /dev/surehand-probe'
say capabilities 'grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status'
say ipc 'test "$(readlink /proc/self/ns/ipc)" != "$HOST_IPC"'
say terminal '! (exec 3<>/dev/tty)'
`;

const PROPERTIES: Readonly<Record<string, string>> = {
  workspace: 'the workspace can be written',
  secret: 'files outside the workspace cannot be read',
  shadow: '/etc/shadow is not there',
  loopback: "the host's network cannot be reached",
  processes: 'processes of the host are invisible',
  namespaces: 'no further namespace can be made',
  system: '/usr cannot be written',
  kernel: 'settings of the kernel cannot be written',
  memory: 'file systems in memory have a limit',
  capabilities: 'a command has no capability, whoever runs it',
  ipc: 'shared memory and queues of the host cannot be reached',
  terminal: 'no terminal can be opened',
};
const OUTSIDE_WRITE = 'nothing outside the workspace can be written';

/** Runs the strict profile once and tries each property that it promises. Never throws for a sandbox that is weak. */
export async function probeSandbox(options: ProbeOptions): Promise<ProbeResult> {
  if (!existsSync(options.bwrapPath)) {
    return broken(`bwrap is not at ${options.bwrapPath}; run the set-up again or install bubblewrap`);
  }
  const scratch = realpathSync(await mkdtemp(join(options.scratchDirectory, 'probe-')));
  const listener = await listen();
  try {
    const workspace = join(scratch, 'workspace');
    await mkdir(workspace);
    await writeFile(join(scratch, 'secret'), 'secret');
    const run = await runProbe(options, { scratch, workspace, port: portOf(listener) });
    const escaped = await stat(join(scratch, 'escaped')).catch(() => undefined);
    return judge(run, escaped === undefined);
  } finally {
    listener.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

interface ProbeRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: string;
}

async function runProbe(
  options: ProbeOptions,
  probe: { readonly scratch: string; readonly workspace: string; readonly port: number },
): Promise<ProbeRun> {
  const toolchain = findToolchain(options.nodePath);
  const environment = {
    ...commandEnvironment({ marker: 'probe', binDirectories: toolchain.binDirectories, extra: {} }),
    OUTSIDE: probe.scratch,
    WORKSPACE: probe.workspace,
    PORT: String(probe.port),
    HOST_PIDS: readlinkSync('/proc/self/ns/pid'),
    HOST_IPC: readlinkSync('/proc/self/ns/ipc'),
  };
  const [program = '', ...argv] = sandboxArgv(
    {
      bwrapPath: options.bwrapPath,
      workspace: probe.workspace,
      readOnly: false,
      cwd: probe.workspace,
      git: { directories: [], pinned: [] },
      toolchains: [toolchain, ...(options.toolchains ?? [])].flatMap(({ mounts }) => mounts),
      environment,
      limits: DEFAULT_LIMITS,
    },
    ['/bin/bash', '-c', PROBE_SCRIPT],
  );
  return await new Promise((resolve) => {
    const child = spawn(program, argv, {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMs ?? 10_000,
      killSignal: 'SIGKILL',
    });
    const texts = { stdout: '', stderr: '', status: '' };
    child.stdout?.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString()));
    child.stdio[3]?.on('data', (chunk: Buffer) => (texts.status += chunk.toString()));
    child.once('error', (error) => {
      resolve({ ...texts, stderr: `${program}: ${error.message}` });
    });
    child.once('close', () => {
      resolve(texts);
    });
  });
}

function judge(run: ProbeRun, nothingEscaped: boolean): ProbeResult {
  if (!run.status.includes('"exit-code"')) {
    const why = run.stderr.trim().split('\n')[0] ?? '';
    return broken(why === '' ? 'the sandbox ended without running anything' : why);
  }
  const checks = Object.entries(PROPERTIES).map(([name, property]) => {
    return { name, property, holds: run.stdout.includes(`${name} yes\n`) };
  });
  checks.push({ name: 'outside', property: OUTSIDE_WRITE, holds: nothingEscaped });
  const failed = checks.filter((check) => !check.holds);
  if (failed.length > 0) {
    return { ...broken(`these do not hold: ${failed.map((check) => check.property).join('; ')}`), checks };
  }
  return { mode: 'strict', detail: `bwrap holds all ${checks.length} properties of the strict profile`, checks };
}

function broken(detail: string): ProbeResult {
  return { mode: 'broken', detail, checks: [] };
}

async function listen(): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
