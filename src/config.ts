import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import type { z } from 'zod';
import { findSettings, parseSettings, userDirectory } from './config-files';
import { readTemporal } from './config-temporal';
import type { TemporalSetting } from './config-temporal';
import { DEFAULTS, modeSchema, sandboxSchema, settingsSchema, timeoutsSchema } from './config-schema';
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
}

export interface Endpoint {
  readonly baseUrl: string;
  readonly apiKey?: string;
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
}

export interface WorkerOptions {
  readonly maxCachedWorkflows: number;
  readonly sandbox: 'strict' | 'off';
  /** A bwrap to use instead of the one on PATH or the fetched one. */
  readonly bwrapPath?: string;
  /** Off: every model call reads its window from history. */
  readonly windowCache: boolean;
  readonly heartbeatThrottleMs: number;
  readonly shutdownGraceMs: number;
  /** A stream without any event for this long has stalled. */
  readonly modelIdleMs: number;
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
  /** Names of the environment variables that hold endpoints' keys, by the settings file. */
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
    keyVariables: Object.values(settings.endpoints ?? {}).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
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

/** Values that must not appear in any log or result. */
export function secrets(config: Config): string[] {
  const { temporal } = config;
  const known = Object.values(config.endpoints).map(({ apiKey }) => apiKey);
  if (temporal.mode === 'server') known.push(temporal.target.apiKey);
  const named = Object.entries(config.env)
    .filter(([name]) => SECRET_NAME.test(name))
    .map(([, value]) => value);
  const long = [...known, ...named].filter((value) => value !== undefined && value.length >= SHORTEST_SECRET);
  return [...new Set(long as string[])];
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
      config.keyVariables.includes(name),
  );
  return {
    ...Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined)),
    SUREHAND_HOME: config.home,
    SUREHAND_SANDBOX: config.worker.sandbox,
    ...(config.settingsFile === undefined ? {} : { SUREHAND_SETTINGS: config.settingsFile }),
  };
}

/** Equal for configurations that make the same worker; tells nothing about the secrets in it. */
export function configDigest(config: Config): string {
  const { endpoints, worker, embedded, queuePrefix: prefix } = config;
  return createHash('sha256')
    .update(JSON.stringify({ endpoints, worker, fast: embedded.fast, prefix }))
    .digest('hex')
    .slice(0, 16);
}

const SECRET_NAME = /(_KEY|_TOKEN|_SECRET|_PASSWORD|_CREDENTIALS|^PASSWORD|^TOKEN)$/i;
/** Shorter values would mask ordinary words. */
const SHORTEST_SECRET = 8;
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

function readEndpoints(env: Env, settings: Settings): Record<string, Endpoint> {
  const fromSettings = Object.entries(settings.endpoints ?? {}).map(([name, endpoint]) => {
    const apiKey = endpoint.apiKey ?? (endpoint.apiKeyEnv === undefined ? undefined : env[endpoint.apiKeyEnv]);
    return [name, { baseUrl: endpoint.baseUrl ?? DEFAULTS.baseUrl, ...(apiKey ? { apiKey } : {}) }] as const;
  });
  const endpoints: Record<string, Endpoint> = Object.fromEntries(fromSettings);
  const before = endpoints[DEFAULTS.endpoint];
  const apiKey = env['ANTHROPIC_API_KEY']?.trim() || before?.apiKey;
  const baseUrl = env['ANTHROPIC_BASE_URL'] ? checkedUrl(env['ANTHROPIC_BASE_URL']) : before?.baseUrl;
  return {
    ...endpoints,
    [DEFAULTS.endpoint]: { baseUrl: baseUrl ?? DEFAULTS.baseUrl, ...(apiKey ? { apiKey } : {}) },
  };
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new ConfigError(`ANTHROPIC_BASE_URL is "${url}"; it must be an http or https URL.`);
}

function knownEndpoint(name: string, endpoints: Readonly<Record<string, Endpoint>>): string {
  if (name in endpoints) return name;
  throw new ConfigError(
    `The setting endpoint is "${name}", but endpoints has only: ${Object.keys(endpoints).join(', ')}.`,
  );
}

function workerOptions(env: Env, settings: Settings, overrides: ConfigOverrides): WorkerOptions {
  const sandbox =
    (overrides.sandbox === undefined ? undefined : parseValue('--sandbox', overrides.sandbox, sandboxSchema)) ??
    fromEnv(env, 'SUREHAND_SANDBOX', sandboxSchema);
  const throttle = positiveFromEnv(env, 'SUREHAND_HEARTBEAT_THROTTLE_MS');
  return {
    ...DEFAULTS.worker,
    ...defined(settings.worker),
    ...defined({ sandbox, heartbeatThrottleMs: throttle, bwrapPath: env['SUREHAND_BWRAP'] || undefined }),
    ...(env['SUREHAND_WINDOW_CACHE'] === 'off' ? { windowCache: false } : {}),
  };
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
