import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, realpathSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { mountsBesideBackground, noteBackground } from './background-commands';
import { CALL_MARKER, commandEnvironment } from './command-environment';
import { callFiles, currentBootId, readStartNote } from './command-files';
import type { CallFiles, StartNote } from './command-files';
import { inspectCommand, stopCommand } from './command-inspection';
import { createWorkspaceFiles } from './files';
import { findGitMounts } from './git-mounts';
import { closingArgv, inheritedDescriptors } from './inherited-descriptors';
import { NETWORK_MOUNT, networkShell } from './network-relay';
import { isNodeError } from './node-error';
import { readOutputPart, readOutputWindow } from './output-window';
import { WorkspaceError } from './ports';
import type { CommandRunner, CommandSpec, StartedCommand } from './ports';
import { DEFAULT_LIMITS, sandboxArgv } from './sandbox-profile';
import type { GitMounts } from './sandbox-profile';
import { SUPERVISOR_NAME, SUPERVISOR_SCRIPT } from './supervisor-script';
import { findToolchain } from './toolchain';
import type { Toolchain } from './toolchain';

export interface CommandRunnerOptions {
  /** Outside the workspace and never mounted; files of calls go to `calls/` in it. */
  readonly stateDirectory: string;
  readonly workspace: string;
  readonly sandbox:
    | { readonly mode: 'strict'; readonly bwrapPath: string }
    | { readonly mode: 'off' }
    | { readonly mode: 'broken'; readonly detail: string };
  /** The node to find on PATH, e.g. the one that runs the worker. */
  readonly nodePath: string;
  /** The directory of the network proxy's socket; absent: no network. Read-only commands never have it. */
  readonly networkDirectory?: string;
  /** More toolchains outside `/usr`. */
  readonly toolchains?: readonly Toolchain[];
  /** Values an operator listed by name for commands. Names that make programs run code are dropped. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default 64 MB. */
  readonly maxOutputBytes?: number;
}

/** A runner whose commands can also be found and removed by their key, by any later process. */
export interface InspectableRunner extends CommandRunner {
  /** Forgets a command that has ended: its files are removed. */
  discard(command: StartedCommand): Promise<void>;
}

/** One argument of a process may have 128 KB; the command is one. */
const MAX_COMMAND_BYTES = 120_000;
const DEFAULT_OUTPUT_BYTES = 64 * 1024 ** 2;
const HOST_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

/**
 * Runs shell commands, each under a supervisor of its own that outlives this process (see SUPERVISOR_SCRIPT). All state
 * is in files: `poll`, `output` and `stop` work for a command that another process started.
 * @throws when the state directory is inside the workspace.
 */
export function createCommandRunner(options: CommandRunnerOptions): InspectableRunner {
  const files = createWorkspaceFiles(options.workspace);
  if (`${options.stateDirectory}${sep}`.startsWith(`${files.directory}${sep}`)) {
    throw new Error(
      `The state directory ${options.stateDirectory} must not be inside the workspace ${files.directory}.`,
    );
  }
  const maxOutputBytes = options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES;
  const locate = (callId: string): CallFiles => callFiles(options.stateDirectory, callId);
  return {
    start: async (spec) => {
      const cwd = await commandDirectory(files, spec);
      const call = locate(spec.callId);
      const beside = await mountsBesideBackground(options.stateDirectory, spec.callId);
      const git = beside ?? (await findGitMounts(files.directory));
      const launch = prepareLaunch(options, { call, spec, workspace: files.directory, cwd, git });
      if (spec.background === true) await noteBackground(options.stateDirectory, spec.callId, git);
      await claimStart(call, { spec, launch });
      await launchSupervisor(call, launch, { timeoutMs: spec.timeoutMs, maxOutputBytes });
      return { callId: spec.callId, outputFile: call.output };
    },
    poll: async (command) => await inspectCommand(locate(command.callId), maxOutputBytes),
    output: async (command, window) => await readOutputWindow(locate(command.callId).output, window),
    read: async (command, part) => await readOutputPart(locate(command.callId).output, part),
    stop: async (command, reason) => {
      await stopCommand(locate(command.callId), reason);
    },
    find: (callId) => {
      const call = locate(callId);
      const isStarted = readStartNote(call) !== undefined;
      return isStarted ? { callId, outputFile: call.output } : undefined;
    },
    discard: async (command) => {
      await rm(locate(command.callId).directory, { recursive: true, force: true });
    },
  };
}

async function commandDirectory(
  files: { readonly directory: string; resolve(path: string): Promise<string> },
  spec: CommandSpec,
): Promise<string> {
  const bytes = Buffer.byteLength(spec.command);
  if (bytes > MAX_COMMAND_BYTES) {
    throw new WorkspaceError(
      `The command has ${bytes} bytes; at most ${MAX_COMMAND_BYTES} are possible. Write a script file and run that.`,
    );
  }
  if (spec.command.includes('\0')) throw new WorkspaceError('The command contains a NUL character. Remove it.');
  return join(files.directory, await files.resolve(spec.cwd ?? '.'));
}

interface Launch {
  readonly marker: string;
  readonly mode: 'strict' | 'off';
  readonly argv: readonly string[];
  readonly cwd: string;
}

interface LaunchPlace {
  readonly call: CallFiles;
  readonly spec: CommandSpec;
  readonly workspace: string;
  readonly cwd: string;
  readonly git: GitMounts;
}

function prepareLaunch(options: CommandRunnerOptions, call: LaunchPlace): Launch {
  const { sandbox } = options;
  if (sandbox.mode === 'broken') {
    throw new WorkspaceError(`Commands are refused: the sandbox does not hold (${sandbox.detail}).`);
  }
  // What lies in the workspace, a command could replace with a link before it is mounted; and it is there anyway.
  const toolchains = [findToolchain(options.nodePath), ...(options.toolchains ?? [])].filter(({ mounts }) =>
    mounts.every((mount) => !mount.startsWith(`${call.workspace}${sep}`)),
  );
  const marker = randomUUID();
  const environment = commandEnvironment({
    marker,
    binDirectories: toolchains.flatMap(({ binDirectories }) => binDirectories),
    extra: Object.fromEntries(
      [options.environment ?? {}, ...toolchains.map((toolchain) => toolchain.environment)].flatMap((names) =>
        Object.entries(names),
      ),
    ),
  });
  const readOnly = call.spec.readOnly ?? false;
  const { networkDirectory } = options;
  const network = sandbox.mode === 'strict' && !readOnly ? networkDirectory : undefined;
  const shell =
    network === undefined
      ? ['/bin/bash', '-c', call.spec.command]
      : networkShell(realpathSync(options.nodePath), call.spec.command);
  if (sandbox.mode === 'off') {
    const home = join(call.call.directory, 'home');
    const variables = Object.entries({ ...environment, HOME: home }).map(([name, value]) => `${name}=${value}`);
    return { marker, mode: 'off', argv: ['env', '-i', ...variables, ...shell], cwd: call.cwd };
  }
  const argv = sandboxArgv(
    {
      bwrapPath: sandbox.bwrapPath,
      workspace: call.workspace,
      readOnly,
      cwd: call.cwd,
      git: call.git,
      toolchains: toolchains.flatMap(({ mounts }) => mounts),
      environment,
      ...(network === undefined ? {} : { extraMount: { from: network, to: NETWORK_MOUNT } }),
      limits: DEFAULT_LIMITS,
    },
    shell,
  );
  return { marker, mode: 'strict', argv, cwd: '/' };
}

/** Creating the note exclusively is the claim: the same key never starts twice, not even from two processes. */
async function claimStart(
  call: CallFiles,
  start: { readonly spec: CommandSpec; readonly launch: Launch },
): Promise<void> {
  const { marker, mode } = start.launch;
  await mkdir(join(call.directory, ...(mode === 'off' ? ['home'] : [])), { recursive: true, mode: 0o700 });
  const note: StartNote = {
    callId: start.spec.callId,
    marker,
    mode,
    startedAtMs: Date.now(),
    timeoutMs: start.spec.timeoutMs,
    bootId: currentBootId(),
  };
  const file = await open(join(call.directory, 'start.json'), 'wx', 0o600).catch((error: unknown) => {
    if (!isNodeError(error, 'EEXIST')) throw error;
    throw new WorkspaceError('This call was started before and is not started a second time.');
  });
  try {
    await file.writeFile(JSON.stringify(note));
  } finally {
    await file.close();
  }
}

async function launchSupervisor(
  call: CallFiles,
  launch: Launch,
  limits: { readonly timeoutMs: number; readonly maxOutputBytes: number },
): Promise<void> {
  const log = openSync(join(call.directory, 'supervisor.log'), 'a', 0o600);
  try {
    // One block more than allowed, so that exactly the allowed size is not taken for too much.
    const blocks = Math.ceil(limits.maxOutputBytes / 512) + 1;
    const [program = '', ...argv] = closingArgv(inheritedDescriptors(), [
      ...['/bin/sh', '-c', SUPERVISOR_SCRIPT, SUPERVISOR_NAME, call.directory],
      ...[String(limits.timeoutMs / 1000), String(blocks), launch.mode, ...launch.argv],
    ]);
    const child = spawn(program, argv, {
      cwd: launch.cwd,
      env: { PATH: HOST_PATH, [CALL_MARKER]: launch.marker },
      // `detached` makes the session of its own; every descriptor is named, so no lock of ours is inherited.
      detached: true,
      stdio: ['ignore', log, log],
    });
    await new Promise<void>((started, failed) => {
      child.once('spawn', started);
      child.once('error', failed);
    });
    child.unref();
  } finally {
    closeSync(log);
  }
}
