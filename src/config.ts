import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import type { z } from 'zod';
import { knownEndpoint, readEndpoints } from './config-endpoints';
import type { Endpoint } from './config-endpoints';
import { findSettings, parseSettings, userDirectory } from './config-files';
import { createModelTable } from './config-models';
import type { ModelTable } from './config-models';
import { readTemporal } from './config-temporal';
import type { TemporalSetting } from './config-temporal';
import { readOwnTools } from './config-tools';
import type { ToolModule } from './config-tools';
import { DEFAULTS, modeSchema, portSchema, sandboxSchema, settingsSchema, timeoutsSchema } from './config-schema';
import type { Settings } from './config-schema';
import { ConfigError, fromEnv, parseValue, positiveFromEnv } from './config-value';
import type { Env } from './config-value';
import type { PermissionMode, RunTimeouts } from './contract/run-input';

export { ConfigError } from './config-value';
export type { Env } from './config-value';

/** What the flags of the command line say about configuration. */
export interface ConfigOverrides {
  readonly settingsFile?: string;
  readonly sandbox?: string;
  /** A port, as it was typed. */
  readonly healthPort?: string;
  /** Modules with tools, from this directory. */
  readonly tools?: readonly string[];
  /** The command starts a worker: the settings file that its flag names may name tools. Default: a run's, which may not. */
  readonly forWorker?: boolean;
}

export interface LimitDefaults {
  readonly maxTurns: number;
  readonly maxOutputTokens: number;
  readonly maxTimeMs?: number;
  readonly maxCostUsd?: number;
  readonly maxTokens?: number;
  readonly hostWaitMs: number;
  /** When nobody will answer. */
  readonly hostWaitUnattendedMs: number;
  /** How long a model call is tried again. */
  readonly modelWaitMs: number;
  readonly modelWaitUnattendedMs: number;
  /** Default: the model's own. */
  readonly maxOutputRaised?: number;
  readonly contextTokens?: number;
  readonly compactAt?: number;
  /** Model calls after which a conversation goes on in a new run of its chain; default: when the server suggests it. */
  readonly turnsPerRun?: number;
}

export interface WorkerOptions {
  readonly maxCachedWorkflows: number;
  readonly sandbox: 'strict' | 'off';
  /** Hosts that sandboxed commands may reach, and those of them that may have private addresses. */
  readonly network?: readonly string[];
  readonly privateNetwork?: readonly string[];
  /** Directories of toolchains, absolute; default: those that PATH names. */
  readonly toolchains?: readonly string[];
  /** Names of environment variables that commands get. */
  readonly environment?: readonly string[];
  /** A bwrap to use instead of the one on PATH or the fetched one. */
  readonly bwrapPath?: string;
  /** Off: every model call reads its window from history. */
  readonly windowCache: boolean;
  readonly heartbeatThrottleMs: number;
  readonly shutdownGraceMs: number;
  /** A stream without any event for this long has stalled. */
  readonly modelIdleMs: number;
  /** Workflow tasks at once, over all conversations. */
  readonly workflowTaskSlots: number;
  readonly workflowTaskPollers: number;
  /** Model calls and tools at once, over all conversations of this host. */
  readonly activitySlots: number;
  readonly activityPollers: number;
  /** Where `GET /healthz` answers on loopback; 0: nowhere. */
  readonly healthPort: number;
}

export interface EmbeddedOptions {
  /** The database may lose the last moments at a power loss (never at a kill): for throw-away machines and tests. */
  readonly fast: boolean;
  readonly idleMs: number;
  readonly startTimeoutMs: number;
}

/** Everything that the environment and the settings file decide, checked. */
export interface Config {
  /** The state directory, absolute. It may not exist yet. */
  readonly home: string;
  /** Below it lie the demo's scratch directories, whose commands may run unsandboxed where the sandbox does not hold. */
  readonly demoRoot: string;
  /** Who may change which workspace: per user, outside the state directory, so that two of them cannot disagree. */
  readonly leaseDirectory: string;
  readonly settingsFile?: string;
  readonly user: string;
  readonly queuePrefix: string;
  readonly temporal: TemporalSetting;
  readonly model: string;
  /** The endpoint that runs use; a key of `endpoints`. */
  readonly endpoint: string;
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  /** Prices, windows and output limits. */
  readonly models: ModelTable;
  /** Modules with tools of one's own, which the worker loads. Never from a run or a workspace. */
  readonly tools: readonly ToolModule[];
  /** Changes when one of them does that every command on this machine knows of, so not those of a flag. */
  readonly toolStamp: readonly string[];
  /** Names of the environment variables that hold endpoints' keys or are for tools, by the settings file. */
  readonly keyVariables: readonly string[];
  readonly mode: PermissionMode;
  readonly limits: LimitDefaults;
  readonly timeouts: RunTimeouts;
  readonly worker: WorkerOptions;
  readonly embedded: EmbeddedOptions;
  /** Set by the daemon for its worker: one queue for workflows and activities. */
  readonly embeddedWorker: boolean;
  /** CI is set: nobody is there to answer. */
  readonly ci: boolean;
  /** The environment it was read from. */
  readonly env: Env;
}

/**
 * Reads the environment and the user's settings file; nothing else in surehand does.
 * The environment wins over the file, `overrides` (flags) over both.
 * @throws ConfigError for a value that cannot be used, or a file that cannot be read.
 */
export function loadConfig(env: Env, overrides: ConfigOverrides = {}): Config {
  const file = findSettings(env, overrides.settingsFile);
  const settings = parseSettings(file);
  const own = readOwnTools(env, { ...overrides, embeddedWorker: isOn(env['SUREHAND_EMBEDDED']) });
  const home = homeDirectory(env);
  const endpoints = readEndpoints(env, settings);
  return {
    home,
    demoRoot: path.join(home, 'demo'),
    leaseDirectory: path.join(userDirectory('log', '.local/state'), 'leases'),
    embeddedWorker: isOn(env['SUREHAND_EMBEDDED']),
    ...(file.text === undefined ? {} : { settingsFile: file.path }),
    user: env['SUREHAND_USER'] || defaultUser(),
    queuePrefix: queuePrefix(env, settings),
    temporal: readTemporal(env),
    model: env['SUREHAND_MODEL'] || settings.model || DEFAULTS.model,
    endpoint: knownEndpoint(settings.endpoint ?? DEFAULTS.endpoint, endpoints),
    endpoints,
    models: createModelTable(settings.prices),
    tools: own.tools,
    toolStamp: own.stamp,
    keyVariables: [
      ...Object.values(settings.endpoints ?? {}).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
      ...own.variables,
    ],
    mode: fromEnv(env, 'SUREHAND_MODE', modeSchema) ?? settings.mode ?? DEFAULTS.mode,
    limits: { ...DEFAULTS.limits, ...defined(settings.limits) },
    timeouts: { ...DEFAULTS.timeouts, ...defined(settings.timeouts), ...defined(envTimeouts(env)) },
    worker: workerOptions(env, settings, overrides),
    embedded: {
      ...DEFAULTS.embedded,
      ...defined(settings.embedded),
      ...(isOn(env['SUREHAND_FAST']) ? { fast: true } : {}),
      ...defined({ idleMs: positiveFromEnv(env, 'SUREHAND_IDLE_MS') }),
    },
    ci: isOn(env['CI']),
    env,
  };
}

/**
 * The environment of the embedded worker: what its own `loadConfig` needs to come to the same configuration, and what
 * any process needs. The daemon adds the server's address.
 */
export function workerEnv(config: Config): Record<string, string> {
  const entries = Object.entries(config.env).filter(
    ([name]) =>
      PASSED_ON.test(name) ||
      name.startsWith('SUREHAND_') ||
      name.startsWith('ANTHROPIC_') ||
      config.keyVariables.includes(name) ||
      config.worker.environment?.includes(name) === true,
  );
  return {
    ...Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined)),
    SUREHAND_HOME: config.home,
    SUREHAND_SANDBOX: config.worker.sandbox,
    ...(config.tools.length === 0 ? {} : { SUREHAND_TOOLS: toolList(config) }),
    ...(config.settingsFile === undefined ? {} : { SUREHAND_SETTINGS: config.settingsFile }),
  };
}

/** The value of `SUREHAND_TOOLS` that stands for these modules in any directory. */
export function toolList({ tools }: Config): string {
  return JSON.stringify(tools.map(({ name, file }) => file ?? name));
}

/** Equal for configurations that make the same worker; tells nothing about the secrets in it. */
export function configDigest(config: Config): string {
  const { endpoints, models, worker, embedded, queuePrefix: prefix } = config;
  return createHash('sha256')
    .update(JSON.stringify({ endpoints, models, worker, fast: embedded.fast, prefix, tools: config.toolStamp }))
    .digest('hex')
    .slice(0, 16);
}

const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(https?|no|all)_proxy|CI)$/i;

function homeDirectory(env: Env): string {
  const home = env['SUREHAND_HOME'];
  if (home === undefined || home === '') return userDirectory('data', '.local/share');
  return path.resolve(home);
}

function defaultUser(): string {
  try {
    return `${os.userInfo().username}@${os.hostname()}`;
  } catch {
    return `uid-${String(process.getuid?.() ?? 0)}@${os.hostname()}`;
  }
}

function queuePrefix(env: Env, settings: Settings): string {
  return (
    fromEnv(env, 'SUREHAND_QUEUE_PREFIX', settingsSchema.shape.queuePrefix) ??
    settings.queuePrefix ??
    DEFAULTS.queuePrefix
  );
}

function workerOptions(env: Env, settings: Settings, overrides: ConfigOverrides): WorkerOptions {
  const sandbox =
    (overrides.sandbox === undefined ? undefined : parseValue('--sandbox', overrides.sandbox, sandboxSchema)) ??
    fromEnv(env, 'SUREHAND_SANDBOX', sandboxSchema);
  const throttle = positiveFromEnv(env, 'SUREHAND_HEARTBEAT_THROTTLE_MS');
  const healthPort =
    portOf('--health-port', overrides.healthPort) ?? portOf('SUREHAND_HEALTH_PORT', env['SUREHAND_HEALTH_PORT']);
  return {
    ...DEFAULTS.worker,
    ...defined(settings.worker),
    ...defined({ network: settings.network, privateNetwork: settings.privateNetwork }),
    ...defined({ toolchains: settings.worker?.toolchains?.map(expandHome) }),
    ...defined({ sandbox, healthPort, heartbeatThrottleMs: throttle, bwrapPath: env['SUREHAND_BWRAP'] || undefined }),
    ...(env['SUREHAND_WINDOW_CACHE'] === 'off' ? { windowCache: false } : {}),
  };
}

function expandHome(directory: string): string {
  return directory.replace(/^~(?=\/|$)/, os.homedir());
}

function portOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  return parseValue(name, /^\d+$/.test(text) ? Number(text) : text, portSchema);
}

function envTimeouts(env: Env): z.infer<typeof timeoutsSchema> | undefined {
  const text = env['SUREHAND_TIMEOUTS'];
  if (text === undefined || text === '') return undefined;
  try {
    return parseValue('SUREHAND_TIMEOUTS', JSON.parse(text), timeoutsSchema);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError('SUREHAND_TIMEOUTS is not valid JSON, for example {"heartbeatMs": 2000}.', { cause: error });
  }
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the keys that are undefined, so that spreading it over defaults keeps the defaults. */
function defined<T extends object>(value: T | undefined): Defined<T> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, item]) => item !== undefined)) as Defined<T>;
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
