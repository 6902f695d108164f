import os from 'node:os';
import path from 'node:path';
import { ConfigError, type Config } from './config';
import { secrets } from './config-secrets';
import type { SandboxState } from './contract/activity';
import { findBwrap } from './server/tool-paths';
import { startNetworkProxy, type NetworkProxy } from './workspace/network-proxy';
import { probeSandbox } from './workspace/sandbox-probe';
import { commandToolchains, type Toolchain } from './workspace/toolchain';

/** What the commands of this worker run in, and what the operator gave them beyond the workspace. */
export interface HostSandbox {
  readonly state: SandboxState;
  readonly bwrapPath?: string;
  readonly toolchains: readonly Toolchain[];
  readonly environment: Readonly<Record<string, string>>;
  readonly networkDirectory?: string;
  close(): Promise<void>;
}

/** Tries the sandbox of this host, as the configuration wants it, and opens the way to the listed hosts. @throws ConfigError */
export async function openSandbox(config: Config): Promise<HostSandbox> {
  const given = { toolchains: findToolchains(config), environment: readEnvironment(config) };
  const tried = await trySandbox(config, given.toolchains);
  const proxy = tried.state.mode === 'strict' ? await openNetwork(config) : undefined;
  return {
    ...given,
    ...tried,
    state: { ...tried.state, ...(proxy === undefined ? {} : { network: proxy.hosts }) },
    ...(proxy === undefined ? {} : { networkDirectory: proxy.directory }),
    close: async () => {
      await proxy?.server.close();
    },
  };
}

async function trySandbox(
  config: Config,
  toolchains: readonly Toolchain[],
): Promise<Pick<HostSandbox, 'state' | 'bwrapPath'>> {
  if (config.worker.sandbox === 'off') {
    return { state: { mode: 'off', detail: 'switched off by the operator of the worker' } };
  }
  const bwrapPath = config.worker.bwrapPath ?? (await findBwrap(config.env));
  if (bwrapPath === undefined) return { state: { mode: 'broken', detail: 'bwrap is not installed' } };
  const probe = await probeSandbox({
    bwrapPath,
    nodePath: process.execPath,
    scratchDirectory: config.home,
    toolchains,
  });
  return { state: { mode: probe.mode, detail: probe.detail }, bwrapPath };
}

interface OpenNetwork {
  readonly server: NetworkProxy;
  readonly hosts: readonly string[];
  readonly directory: string;
}

async function openNetwork({ home, worker }: Config): Promise<OpenNetwork | undefined> {
  const rules = { hosts: worker.network ?? [], privateHosts: worker.privateNetwork ?? [] };
  const hosts = [...new Set([...rules.hosts, ...rules.privateHosts])];
  if (hosts.length === 0) return undefined;
  const directory = path.join(home, 'network');
  return { server: await startNetworkProxy({ directory, rules }), hosts, directory };
}

function findToolchains({ home, worker, env }: Config): readonly Toolchain[] {
  try {
    return commandToolchains({ listed: worker.toolchains, path: env['PATH'] ?? '', forbidden: [home, os.homedir()] });
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Every process of this machine can read what a command is started with. */
function readEnvironment(config: Config): Readonly<Record<string, string>> {
  const hidden = new Set(secrets(config));
  const entries = (config.worker.environment ?? []).flatMap((name) => {
    const value = config.env[name];
    if (value === undefined) return [];
    if (hidden.has(value.trim())) {
      throw new ConfigError(`The setting worker.environment names ${name}, which holds a secret. Take it out.`);
    }
    return [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** What the operator gave commands beyond the workspace, for the log. */
export function describeSandbox({ state, toolchains }: HostSandbox): Readonly<Record<string, string>> {
  return {
    ...(toolchains.length === 0 ? {} : { toolchains: toolchains.map(({ name }) => name).join(' ') }),
    ...(state.network === undefined ? {} : { network: state.network.join(' ') }),
  };
}
