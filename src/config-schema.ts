import { z } from 'zod';
import type { PermissionMode, RunTimeouts } from './contract/run-input';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What holds where neither the environment nor the settings file says anything. */
export const DEFAULTS = {
  model: 'claude-sonnet-5-5',
  baseUrl: 'https://api.anthropic.com',
  endpoint: 'default',
  queuePrefix: 'surehand',
  namespace: 'default',
  mode: 'auto' satisfies PermissionMode,
  limits: {
    maxTurns: 100,
    maxOutputTokens: 16_384,
    hostWaitMs: 7 * DAY_MS,
    hostWaitUnattendedMs: 15 * MINUTE_MS,
    modelWaitMs: 2 * HOUR_MS,
    modelWaitUnattendedMs: 30 * MINUTE_MS,
  },
  timeouts: {
    heartbeatMs: 30_000,
    modelCallMs: 15 * MINUTE_MS,
    toolCallMs: 35 * MINUTE_MS,
    prepareMs: 2 * MINUTE_MS,
    scheduleToStartMs: MINUTE_MS,
    hostWaitMaxMs: HOUR_MS,
    retryInitialMs: 1_000,
    retryMaxMs: MINUTE_MS,
    // More than the back-off above makes within `modelWaitMs`: the time decides, this only bounds it.
    modelAttempts: 200,
    finishMs: 20_000,
  } satisfies RunTimeouts,
  worker: {
    maxCachedWorkflows: 200,
    sandbox: 'strict',
    windowCache: true,
    heartbeatThrottleMs: 500,
    shutdownGraceMs: 10_000,
    modelIdleMs: 5 * MINUTE_MS,
    // The SDK's own defaults, written out.
    workflowTaskSlots: 40,
    workflowTaskPollers: 10,
    activitySlots: 100,
    activityPollers: 10,
    healthPort: 0,
  },
  embedded: { fast: false, idleMs: 30 * MINUTE_MS, startTimeoutMs: MINUTE_MS },
} as const;

const positive = z.int().positive();
const name = z.string().regex(/^[\w.-]{1,100}$/, 'must be a name of letters, digits, ".", "_" and "-"');
const variable = z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable');

const hostEntry = z
  .string()
  .regex(
    /^(?:\*\.)?[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?(?::\d{1,5})?$/,
    'must be a host such as "example.org", "*.example.org" or "example.org:8443"',
  );

/** Milliseconds each, but `modelAttempts`. */
export const timeoutsSchema = z.strictObject({
  heartbeatMs: positive.optional(),
  modelCallMs: positive.optional(),
  toolCallMs: positive.optional(),
  prepareMs: positive.optional(),
  scheduleToStartMs: positive.optional(),
  hostWaitMaxMs: positive.optional(),
  retryInitialMs: positive.optional(),
  retryMaxMs: positive.optional(),
  modelAttempts: positive.optional(),
  finishMs: positive.optional(),
});

export const modeSchema = z.enum(['auto', 'ask', 'read-only']);
export const sandboxSchema = z.enum(['strict', 'off']);
export const portSchema = z.int('must be a port').min(0, 'must be a port').max(65_535, 'must be a port, at most 65535');

const endpointSchema = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  apiKey: z.string().min(1).optional(),
  /** Name of the environment variable that holds the key, so that no secret stands in the file. */
  apiKeyEnv: variable.optional(),
  auth: z.enum(['bearer', 'x-api-key']).optional(),
  caching: z.boolean().optional(),
  requireAll: z.boolean().optional(),
  thinking: z.enum(['echo', 'drop']).optional(),
  echoFields: z.array(z.string().min(1)).optional(),
});

/** USD per million tokens; cached tokens cost what others do where nothing is said about them. */
const priceSchema = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cacheRead: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
  contextTokens: positive.optional(),
  maxOutputTokens: positive.optional(),
});

/** The user's settings file: JSON, every key optional, an unknown key refused. */
export const settingsSchema = z.strictObject({
  model: z.string().min(1).optional(),
  mode: modeSchema.optional(),
  queuePrefix: name.optional(),
  /** Modules with tools of one's own: paths from this file's directory, or packages. Refused in a run's `--settings`. */
  tools: z.array(z.string().min(1)).optional(),
  /** Names of environment variables that these tools read; the embedded worker gets no others of one's own. */
  toolVariables: z.array(variable).optional(),
  /** Hosts that sandboxed commands may reach by HTTP and HTTPS: `host`, `*.suffix`, either with `:port`. Default: none. */
  network: z.array(hostEntry).optional(),
  /** The same for hosts that have private addresses, such as a company's mirror. */
  privateNetwork: z.array(hostEntry).optional(),
  endpoint: name.optional(),
  endpoints: z.record(name, endpointSchema).optional(),
  /** By model: beside those of the built-in table, or instead of them. */
  prices: z.record(z.string().min(1), priceSchema).optional(),
  limits: z
    .strictObject({
      maxTurns: positive.optional(),
      maxTimeMs: positive.optional(),
      maxCostUsd: z.number().positive().optional(),
      maxTokens: positive.optional(),
      maxOutputTokens: positive.optional(),
      hostWaitMs: positive.optional(),
      hostWaitUnattendedMs: positive.optional(),
      modelWaitMs: positive.optional(),
      modelWaitUnattendedMs: positive.optional(),
      maxOutputRaised: positive.optional(),
      contextTokens: positive.optional(),
      compactAt: z.number().min(0.1).max(1).optional(),
      turnsPerRun: positive.optional(),
    })
    .optional(),
  timeouts: timeoutsSchema.optional(),
  worker: z
    .strictObject({
      maxCachedWorkflows: z.int().min(2).optional(),
      sandbox: sandboxSchema.optional(),
      /** Directories of toolchains that commands may read and run. Default: those that the worker's PATH names. */
      toolchains: z.array(z.string().regex(/^(?:~?\/|~$)/, 'must be an absolute path, or begin with ~/')).optional(),
      /** Names of the worker's environment variables that commands get too. Not for secrets: other users can see them. */
      environment: z.array(variable).optional(),
      bwrapPath: z.string().startsWith('/', 'must be an absolute path').optional(),
      windowCache: z.boolean().optional(),
      heartbeatThrottleMs: positive.optional(),
      shutdownGraceMs: positive.optional(),
      modelIdleMs: positive.optional(),
      workflowTaskSlots: z.int().min(2).max(1_000).optional(),
      // One for the worker's own sticky queue, one for the shared.
      workflowTaskPollers: z.int().min(2).max(100).optional(),
      activitySlots: z.int().min(1).max(1_000).optional(),
      activityPollers: z.int().min(1).max(100).optional(),
      healthPort: portSchema.optional(),
    })
    .optional(),
  embedded: z
    .strictObject({
      fast: z.boolean().optional(),
      idleMs: positive.optional(),
      startTimeoutMs: positive.optional(),
    })
    .optional(),
});

export type Settings = z.infer<typeof settingsSchema>;

/** The first problem of a failed parse as `limits.maxTurns: Invalid input: …`, for a sentence that names its source. */
export function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'is not valid';
  const where = issue.path.map(String).join('.');
  return where === '' ? issue.message : `${where}: ${issue.message}`;
}
