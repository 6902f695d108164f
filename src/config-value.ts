import type { z } from 'zod';
import { describeIssue } from './config-schema';

export type Env = Readonly<Record<string, string | undefined>>;

/** A wrong setting: one sentence that names the variable or file and says what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A whole number above zero from a variable. @throws ConfigError */
export function positiveFromEnv(env: Env, name: string): number | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  if (/^[1-9]\d{0,12}$/.test(text)) return Number(text);
  throw new ConfigError(`${name} is "${text}"; it must be a whole number above zero.`);
}

/** A variable's value, checked; undefined when it is unset or empty. @throws ConfigError */
export function fromEnv<T>(env: Env, name: string, schema: z.ZodType<T>): T | undefined {
  const value = env[name];
  return value === undefined || value === '' ? undefined : parseValue(name, value, schema);
}

/** @throws ConfigError that names the source of the value. */
export function parseValue<T>(name: string, value: unknown, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const shown = typeof value === 'string' ? ` ("${value}")` : '';
  throw new ConfigError(`${name}${shown} is not usable: ${describeIssue(parsed.error)}.`);
}

/** The error's code (`ENOENT`), for a sentence. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown error';
}
