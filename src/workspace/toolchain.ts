import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What to bind and to put on PATH so that a program outside `/usr` works in the sandbox. */
export interface Toolchain {
  /** For people, e.g. `rust`. */
  readonly name: string;
  readonly mounts: readonly string[];
  readonly binDirectories: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Finds out for one program, usually the node that runs the worker. Its whole installation (for npm beside node) is
 * bound only if it looks like one; else just the file, because the directory might be somebody's home.
 */
export function findToolchain(program: string): Toolchain {
  const name = basename(program);
  const real = existsSync(program) ? realpathSync(program) : program;
  if (isSystemPath(real) || !existsSync(real)) return { name, mounts: [], binDirectories: [], environment: {} };
  const bin = dirname(real);
  const prefix = dirname(bin);
  const installed = existsSync(join(prefix, 'lib', 'node_modules', 'npm')) && prefix !== '/';
  return { name, mounts: [installed ? prefix : real], binDirectories: [bin], environment: {} };
}

/**
 * The toolchains that the directories of a PATH belong to, as far as their layout is known. Nothing is bound beyond what
 * the tools need: a home holds keys, and so does cargo's own directory.
 */
function detectToolchains(path: string, forbidden: readonly string[]): readonly Toolchain[] {
  const found = new Map<string, Toolchain>();
  for (const directory of path.split(':')) {
    if (!directory.startsWith('/') || !isDirectory(directory)) continue;
    const real = realpathSync(directory);
    const toolchain = isSystemPath(`${real}/`) ? undefined : recognise(real);
    if (toolchain === undefined || toolchain.mounts.some((mount) => forbiddenIn(mount, forbidden) !== undefined))
      continue;
    found.set(toolchain.mounts.join(':'), toolchain);
  }
  return [...found.values()];
}

/**
 * A toolchain by the directory that somebody listed: bound whole, with its `bin` on PATH.
 * @throws Error with a sentence when it cannot or must not be bound: it is missing, or one of the `forbidden` lies in it.
 */
function listedToolchain(directory: string, forbidden: readonly string[]): Toolchain {
  if (!isDirectory(directory)) throw new Error(`The toolchain ${directory} is not a directory. Correct the setting.`);
  const real = realpathSync(directory);
  const inside = forbiddenIn(real, forbidden);
  if (inside !== undefined) {
    throw new Error(
      `The toolchain ${directory} must not be shown to commands: ${inside} lies in it. Name a narrower one.`,
    );
  }
  const known = [real, join(real, 'bin'), join(real, 'shims')].map((place) => recognise(place)).find(Boolean);
  const bins = ['shims', 'bin'].map((name) => join(real, name)).filter(isDirectory);
  return {
    name: basename(real),
    mounts: [real, ...(known?.mounts ?? []).filter((mount) => !`${mount}/`.startsWith(`${real}/`))],
    binDirectories: bins.length > 0 ? bins : [real],
    environment: known?.environment ?? {},
  };
}

/** The toolchains of a setting, or, without one, what is found by PATH. @throws see `listedToolchain` */
export function commandToolchains(options: {
  readonly listed: readonly string[] | undefined;
  readonly path: string;
  readonly forbidden: readonly string[];
}): readonly Toolchain[] {
  const { listed, path, forbidden } = options;
  return listed?.map((directory) => listedToolchain(directory, forbidden)) ?? detectToolchains(path, forbidden);
}

function forbiddenIn(directory: string, forbidden: readonly string[]): string | undefined {
  const start = directory === '/' ? '/' : `${directory}/`;
  return ['/', ...forbidden].find((path) => `${path === '/' ? '' : path}/`.startsWith(start));
}

type Layout = (bin: string, prefix: string) => Toolchain | undefined;

/** By the directory with the programs. */
const LAYOUTS: readonly Layout[] = [
  (bin, prefix) => {
    const rustup = join(dirname(prefix), '.rustup');
    if (!has(bin, 'rustup', 'cargo') || !isDirectory(rustup)) return undefined;
    return { name: 'rust', mounts: [bin, rustup], binDirectories: [bin], environment: { RUSTUP_HOME: rustup } };
  },
  (bin, prefix) => shims('pyenv', 'PYENV_ROOT', { bin, prefix }),
  (bin, prefix) => shims('rbenv', 'RBENV_ROOT', { bin, prefix }),
  (bin, prefix) => whole('node', has(bin, 'node') && existsSync(join(prefix, 'lib/node_modules/npm')), { bin, prefix }),
  (bin, prefix) => whole('go', has(bin, 'go', 'gofmt') && isDirectory(join(prefix, 'pkg/tool')), { bin, prefix }),
  (bin, prefix) => whole('java', has(bin, 'java') && existsSync(join(prefix, 'lib/modules')), { bin, prefix }),
  (bin, prefix) => whole('python', has(bin, 'python3') && isPythonPrefix(prefix), { bin, prefix }),
  (bin) => alone('deno', bin),
  (bin) => alone('bun', bin),
  (bin) => alone('uv', bin),
];

function recognise(bin: string): Toolchain | undefined {
  const prefix = dirname(bin);
  for (const layout of LAYOUTS) {
    const toolchain = layout(bin, prefix);
    if (toolchain !== undefined) return toolchain;
  }
  return undefined;
}

interface Place {
  readonly bin: string;
  readonly prefix: string;
}

/** A version manager whose `shims` choose among its `versions`. */
function shims(name: string, variable: string, { bin, prefix }: Place): Toolchain | undefined {
  const isOne = basename(bin) === 'shims' && isDirectory(join(prefix, 'versions')) && has(join(prefix, 'bin'), name);
  if (!isOne) return undefined;
  return { name, mounts: [prefix], binDirectories: [bin, join(prefix, 'bin')], environment: { [variable]: prefix } };
}

function whole(name: string, isOne: boolean, { bin, prefix }: Place): Toolchain | undefined {
  return isOne && prefix !== '/' ? { name, mounts: [prefix], binDirectories: [bin], environment: {} } : undefined;
}

/** One self-contained program: in a directory of its own, or just the file. */
function alone(name: string, bin: string): Toolchain | undefined {
  if (!has(bin, name)) return undefined;
  return { name, mounts: [realpathSync(join(bin, name))], binDirectories: [bin], environment: {} };
}

function isPythonPrefix(prefix: string): boolean {
  const program = join(prefix, 'bin', 'python3');
  return isDirectory(join(prefix, 'include')) && realpathSync(program).startsWith(`${prefix}/`);
}

function has(bin: string, ...programs: readonly string[]): boolean {
  return programs.every((program) => existsSync(join(bin, program)));
}

function isSystemPath(path: string): boolean {
  return ['/usr/', '/bin/', '/sbin/'].some((start) => path.startsWith(start));
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
