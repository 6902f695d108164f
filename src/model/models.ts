import { STANDARD_PROFILE, type EndpointProfile } from '../contract/endpoint-profile';
import type { ModelChoice } from '../contract/run-input';
import { PortError } from '../contract/port-error';
import { createAnthropicModel } from './anthropic/anthropic-model';
import { createEndpointLimiter } from './endpoint-limiter';
import type { Model } from './port';
import { createScriptedModel } from './scripted/scripted-model';

export interface EndpointConfig extends Partial<EndpointProfile> {
  readonly baseUrl: string;
  /** Absent: the endpoint is known, but the worker has no key for it. */
  readonly apiKey?: string;
}

export interface ModelsOptions {
  /** By the name that a run's `ModelChoice` carries. */
  readonly endpoints: Readonly<Record<string, EndpointConfig>>;
  readonly idleMs: number;
  readonly timeoutMs: number;
  readonly maxConcurrentPerEndpoint: number;
  /** See `EndpointLimiterOptions`. */
  readonly coolDownMs?: number;
  readonly onWarning: (text: string) => void;
}

/**
 * Resolves a run's choice to a model. One client and one limiter per endpoint, shared by all conversations. Throws
 * `PortError` `unauthenticated` for an endpoint that this worker does not know or has no key for.
 */
export function createModels(options: ModelsOptions): (choice: ModelChoice) => Model {
  const endpoints = new Map(Object.entries(options.endpoints));
  const models = new Map<string, Model>();
  const scripted = createScriptedModel({ onWarning: options.onWarning });
  return (choice) => {
    if (choice.provider === 'scripted') return scripted;
    const known = models.get(choice.endpoint);
    if (known !== undefined) return known;
    const { apiKey, baseUrl, ...own } = findEndpoint(endpoints, choice.endpoint);
    if (apiKey === undefined || apiKey.trim() === '')
      throw unauthenticated(`no API key for the endpoint "${choice.endpoint}"`);
    const { maxConcurrentPerEndpoint: maxConcurrent, coolDownMs, idleMs, timeoutMs, onWarning } = options;
    const limit = createEndpointLimiter({ maxConcurrent, ...(coolDownMs === undefined ? {} : { coolDownMs }) });
    const profile = { ...STANDARD_PROFILE, ...own };
    const model = limit(createAnthropicModel({ baseUrl, apiKey, profile, idleMs, timeoutMs, onWarning }));
    models.set(choice.endpoint, model);
    return model;
  };
}

function findEndpoint(endpoints: ReadonlyMap<string, EndpointConfig>, name: string): EndpointConfig {
  const endpoint = endpoints.get(name);
  if (endpoint === undefined) throw unauthenticated(`no endpoint named "${name}"`);
  return endpoint;
}

function unauthenticated(lack: string): PortError {
  return new PortError({
    class: 'unauthenticated',
    retryable: false,
    detail: `This worker has ${lack}. Set ANTHROPIC_API_KEY in the worker's environment and start it again, or use a scripted model: --model scripted:FILE.`,
  });
}
