/** What one sandboxed command may see. All paths are absolute and resolved: a mount onto a link would be refused. */
export interface SandboxSpec {
  readonly bwrapPath: string;
  readonly workspace: string;
  /** The workspace cannot be written, not even by mistake: the mode is a mount. */
  readonly readOnly: boolean;
  /** Absolute, inside the workspace. */
  readonly cwd: string;
  readonly git: GitMounts;
  /** Directories or files outside `/usr` to bind read-only: a toolchain of a version manager. */
  readonly toolchains: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** A directory of the host that is to be seen, read-only, at another place. */
  readonly extraMount?: { readonly from: string; readonly to: string };
  readonly limits: ResourceLimits;
}

/** What of git's own files exists. Protected ones are pinned; one that is missing must not be made by a mount. */
export interface GitMounts {
  /** Directories bound writable onto themselves, so that they cannot be renamed away from under their pins. */
  readonly directories: readonly string[];
  /** Bound read-only. */
  readonly pinned: readonly string[];
}

export interface ResourceLimits {
  readonly openFiles: number;
  readonly fileBytes: number;
  readonly dataBytes: number;
  /** Of each file system in memory. */
  readonly tmpBytes: number;
  /** Processes and threads of one sandbox. The kernel does not hold a worker that runs as root to it. */
  readonly processes: number;
}

export const DEFAULT_LIMITS: ResourceLimits = {
  openFiles: 4096,
  fileBytes: 2 * 1024 ** 3,
  dataBytes: 8 * 1024 ** 3,
  tmpBytes: 512 * 1024 ** 2,
  processes: 4096,
};

/** Never all of `/etc`: with uid 0 mapped to uid 0 that would hand over shadow and host keys. */
const ETC_FILES = [
  'passwd',
  'group',
  'nsswitch.conf',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  // Not all of it: its `private` holds the host's keys, which a worker that runs as root could read.
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'localtime',
  'hosts',
  'mime.types',
];

/**
 * Parts of the whole machine, which belong to user id 0: a fresh `/proc` lets a worker that runs as root write them
 * without any capability, for example the program that the kernel starts at the next crash.
 */
const KERNEL_SETTINGS = [
  ...['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'driver', 'scsi', 'asound', 'mtrr', 'pressure'],
  'dynamic_debug',
];

/** Where bwrap writes its status lines: descriptor 3, a file of the call's directory. */
const STATUS_FD = '3';

/** Runs `command` (an argv) in the strict profile: argv of prlimit and bwrap. Pure. */
export function sandboxArgv(spec: SandboxSpec, command: readonly string[]): readonly string[] {
  return [
    ...limitArgv(spec.limits),
    spec.bwrapPath,
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--disable-userns', '--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--json-status-fd', STATUS_FD],
    ...systemMounts(spec.limits),
    ...spec.toolchains.flatMap((path) => ['--ro-bind', path, path]),
    ...workspaceMounts(spec),
    ...(spec.extraMount === undefined ? [] : ['--ro-bind', spec.extraMount.from, spec.extraMount.to]),
    // What holds the mounts is a file system in memory too, without a limit.
    ...['--remount-ro', '/', '--chdir', spec.cwd],
    ...environmentArgv(spec.environment),
    // Set within: outside it would count all other processes of the user too.
    ...['--', '/usr/bin/prlimit', `--nproc=${spec.limits.processes}`],
    ...command,
  ];
}

function limitArgv(limits: ResourceLimits): readonly string[] {
  return [
    'prlimit',
    `--nofile=${limits.openFiles}`,
    `--fsize=${limits.fileBytes}`,
    '--core=0',
    `--data=${limits.dataBytes}`,
    '--',
  ];
}

function systemMounts(limits: ResourceLimits): readonly string[] {
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...ETC_FILES.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['--proc', '/proc'],
    ...KERNEL_SETTINGS.flatMap((name) => ['--ro-bind-try', `/proc/${name}`, `/proc/${name}`]),
    ...['--dev', '/dev'],
    ...['/tmp', '/run', '/dev/shm'].flatMap((path) => ['--size', String(limits.tmpBytes), '--tmpfs', path]),
    ...['--dir', '/tmp/home', '--remount-ro', '/dev'],
  ];
}

function workspaceMounts(spec: SandboxSpec): readonly string[] {
  const { workspace, git } = spec;
  if (spec.readOnly) {
    const outside = git.directories.filter((path) => !path.startsWith(`${workspace}/`));
    return ['--ro-bind', workspace, workspace, ...outside.flatMap((path) => ['--ro-bind', path, path])];
  }
  return [
    ...['--bind', workspace, workspace],
    ...git.directories.flatMap((path) => ['--bind', path, path]),
    ...git.pinned.flatMap((path) => ['--ro-bind', path, path]),
  ];
}

function environmentArgv(environment: Readonly<Record<string, string>>): readonly string[] {
  return ['--clearenv', ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value])];
}
