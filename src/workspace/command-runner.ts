import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { CALL_MARKER, commandEnvironment } from './command-environment';
import { callFiles, currentBootId, readStartNote } from './command-files';
import type { CallFiles, StartNote } from './command-files';
import { inspectCommand, stopCommand } from './command-inspection';
import { createWorkspaceFiles } from './files';
import { findGitMounts } from './git-mounts';
import { isNodeError } from './node-error';
import { readOutputWindow } from './output-window';
import { WorkspaceError } from './ports';
import type { CommandRunner, CommandSpec, StartedCommand } from './ports';
import { DEFAULT_LIMITS, sandboxArgv } from './sandbox-profile';
import { SUPERVISOR_SCRIPT } from './supervisor-script';
import { findToolchain } from './toolchain';

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
  /** Values an operator listed by name for commands. Names that make programs run code are dropped. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default 64 MB. */
  readonly maxOutputBytes?: number;
}

/** A runner whose commands can also be found and removed by their key, by any later process. */
export interface InspectableRunner extends CommandRunner {
  /** The command of an earlier start, of this process or of one before it. */
  find(callId: string): Promise<StartedCommand | undefined>;
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
      const launch = await prepareLaunch(options, { call, spec, workspace: files.directory, cwd });
      await claimStart(call, { spec, launch });
      await launchSupervisor(call, launch, { timeoutMs: spec.timeoutMs, maxOutputBytes });
      return { callId: spec.callId, outputFile: call.output };
    },
    poll: async (command) => await inspectCommand(locate(command.callId), maxOutputBytes),
    output: async (command, window) => await readOutputWindow(locate(command.callId).output, window),
    stop: async (command, reason) => {
      await stopCommand(locate(command.callId), reason);
    },
    find: async (callId) => {
      const call = locate(callId);
      return (await readStartNote(call)) === undefined ? undefined : { callId, outputFile: call.output };
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

async function prepareLaunch(
  options: CommandRunnerOptions,
  call: { readonly call: CallFiles; readonly spec: CommandSpec; readonly workspace: string; readonly cwd: string },
): Promise<Launch> {
  const { sandbox } = options;
  if (sandbox.mode === 'broken') {
    throw new WorkspaceError(`Commands are refused: the sandbox does not hold (${sandbox.detail}).`);
  }
  const toolchain = findToolchain(options.nodePath);
  const marker = randomUUID();
  const environment = commandEnvironment({
    marker,
    binDirectories: toolchain.binDirectories,
    extra: options.environment ?? {},
  });
  const shell = ['/bin/bash', '-c', call.spec.command];
  if (sandbox.mode === 'off') {
    const home = join(call.call.directory, 'home');
    const variables = Object.entries({ ...environment, HOME: home }).map(([name, value]) => `${name}=${value}`);
    return { marker, mode: 'off', argv: ['env', '-i', ...variables, ...shell], cwd: call.cwd };
  }
  const argv = sandboxArgv(
    {
      bwrapPath: sandbox.bwrapPath,
      workspace: call.workspace,
      readOnly: call.spec.readOnly ?? false,
      cwd: call.cwd,
      git: await findGitMounts(call.workspace),
      toolchains: toolchain.mounts,
      environment,
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
    const child = spawn(
      '/bin/sh',
      [
        ...['-c', SUPERVISOR_SCRIPT, 'surehand-supervisor', call.directory],
        ...[String(limits.timeoutMs / 1000), String(blocks), launch.mode, ...launch.argv],
      ],
      // `detached` makes the session of its own; every descriptor is named, so no lock of ours is inherited.
      {
        cwd: launch.cwd,
        env: { PATH: HOST_PATH, [CALL_MARKER]: launch.marker },
        detached: true,
        stdio: ['ignore', log, log],
      },
    );
    await new Promise<void>((started, failed) => {
      child.once('spawn', started);
      child.once('error', failed);
    });
    child.unref();
  } finally {
    closeSync(log);
  }
}
