import { DEFAULTS } from './config-schema';
import type { Settings } from './config-schema';
import { ConfigError } from './config-value';
import type { Env } from './config-value';
import type { EndpointProfile } from './contract/endpoint-profile';

export interface Endpoint extends Partial<EndpointProfile> {
  readonly baseUrl: string;
  readonly apiKey?: string;
}

/** The endpoints of the settings; `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL` make the default one. @throws ConfigError */
export function readEndpoints(env: Env, settings: Settings): Record<string, Endpoint> {
  const endpoints: Record<string, Endpoint> = Object.fromEntries(
    Object.entries(settings.endpoints ?? {}).map(([name, { apiKey: given, apiKeyEnv, baseUrl, ...profile }]) => {
      const apiKey = given ?? (apiKeyEnv === undefined ? undefined : env[apiKeyEnv]);
      return [name, { baseUrl: baseUrl ?? DEFAULTS.baseUrl, ...(apiKey ? { apiKey } : {}), ...setParts(profile) }];
    }),
  );
  const before = endpoints[DEFAULTS.endpoint];
  const apiKey = env['ANTHROPIC_API_KEY']?.trim() || before?.apiKey;
  const baseUrl = env['ANTHROPIC_BASE_URL'] ? checkedUrl(env['ANTHROPIC_BASE_URL']) : before?.baseUrl;
  return {
    ...endpoints,
    [DEFAULTS.endpoint]: { ...before, baseUrl: baseUrl ?? DEFAULTS.baseUrl, ...(apiKey ? { apiKey } : {}) },
  };
}

/** The name of an endpoint, if it is one of those. @throws ConfigError */
export function knownEndpoint(name: string, endpoints: Readonly<Record<string, Endpoint>>): string {
  if (name in endpoints) return name;
  throw new ConfigError(
    `The setting endpoint is "${name}", but endpoints has only: ${Object.keys(endpoints).join(', ')}.`,
  );
}

function setParts(profile: {
  [K in keyof EndpointProfile]?: EndpointProfile[K] | undefined;
}): Partial<EndpointProfile> {
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined));
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new ConfigError(`ANTHROPIC_BASE_URL is "${url}"; it must be an http or https URL.`);
}
