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
    // With the back-off above: about half an hour of trying.
    modelAttempts: 35,
    finishMs: 20_000,
  } satisfies RunTimeouts,
  worker: {
    maxCachedWorkflows: 200,
    sandbox: 'strict',
    windowCache: true,
    heartbeatThrottleMs: 500,
    shutdownGraceMs: 10_000,
    modelIdleMs: 5 * MINUTE_MS,
  },
  embedded: { fast: false, idleMs: 30 * MINUTE_MS, startTimeoutMs: MINUTE_MS },
} as const;

const positive = z.int().positive();
const name = z.string().regex(/^[\w.-]{1,100}$/, 'must be a name of letters, digits, ".", "_" and "-"');

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

const endpointSchema = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  apiKey: z.string().min(1).optional(),
  /** Name of the environment variable that holds the key, so that no secret stands in the file. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable')
    .optional(),
});

/** The user's settings file: JSON, every key optional, an unknown key refused. */
export const settingsSchema = z.strictObject({
  model: z.string().min(1).optional(),
  mode: modeSchema.optional(),
  queuePrefix: name.optional(),
  endpoint: name.optional(),
  endpoints: z.record(name, endpointSchema).optional(),
  limits: z
    .strictObject({
      maxTurns: positive.optional(),
      maxTimeMs: positive.optional(),
      maxCostUsd: z.number().positive().optional(),
      maxTokens: positive.optional(),
      maxOutputTokens: positive.optional(),
      hostWaitMs: positive.optional(),
      hostWaitUnattendedMs: positive.optional(),
    })
    .optional(),
  timeouts: timeoutsSchema.optional(),
  worker: z
    .strictObject({
      maxCachedWorkflows: z.int().min(2).optional(),
      sandbox: sandboxSchema.optional(),
      bwrapPath: z.string().startsWith('/', 'must be an absolute path').optional(),
      windowCache: z.boolean().optional(),
      heartbeatThrottleMs: positive.optional(),
      shutdownGraceMs: positive.optional(),
      modelIdleMs: positive.optional(),
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
