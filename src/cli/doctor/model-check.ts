import type { Config } from '../../config';
import { visibleLine } from '../visible-text';
import { check } from './check';
import type { Check, Finding } from './check';

const CALL_TIMEOUT_MS = 20_000;
const MAX_DETAIL = 200;

/**
 * The key and the endpoint of the model. Nothing is sent unless `call` is set: then one request for one token, which
 * costs next to nothing.
 */
export function checkModel(
  config: Pick<Config, 'model' | 'endpoint' | 'endpoints'>,
  { call, timeoutMs = CALL_TIMEOUT_MS }: { readonly call: boolean; readonly timeoutMs?: number },
): Promise<Check> {
  const { baseUrl = '', apiKey } = config.endpoints[config.endpoint] ?? {};
  const where = `${config.model} at ${baseUrl}`;
  return check({
    id: 'model',
    why: 'Every turn is a call of the model; only recorded models do without a key.',
    // The call has a limit of its own, with a finding of its own.
    timeoutMs: timeoutMs + 1_000,
    look: async () => {
      if (config.model.startsWith('scripted:')) return { state: 'ok', detail: `${config.model} needs no key` };
      if (apiKey === undefined) {
        return {
          state: 'warn',
          detail: `no key for ${where}: only recorded models and the demo work`,
          mend: 'Set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for a compatible endpoint), or apiKeyEnv in the settings.',
        };
      }
      if (!call)
        return { state: 'ok', detail: `a key for ${where} is set; not tried (doctor --model makes one small call)` };
      const finding = await tryCall({ baseUrl, apiKey, model: config.model, timeoutMs });
      // An endpoint may quote what it was sent.
      return { ...finding, detail: finding.detail.split(apiKey).join('[key]') };
    },
  });
}

interface Target {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  readonly timeoutMs: number;
}

async function tryCall(target: Target): Promise<Finding> {
  const startedAt = Date.now();
  let response: Response;
  let body: string;
  try {
    response = await fetch(`${target.baseUrl.replace(/\/+$/, '')}/v1/messages`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        // As the worker's adapter sends it.
        authorization: `Bearer ${target.apiKey}`,
      },
      body: JSON.stringify({ model: target.model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }),
      redirect: 'manual',
      signal: AbortSignal.timeout(target.timeoutMs),
    });
    body = await response.text();
  } catch (error) {
    return unreachable(error, target);
  }
  if (response.ok && isMessage(body)) {
    return {
      state: 'ok',
      detail: `${target.model} answered in ${String(Date.now() - startedAt)} ms at ${target.baseUrl}`,
    };
  }
  return refused(response, body, target);
}

function refused(response: Response, body: string, { baseUrl, model }: Target): Finding {
  const said = visibleLine(messageOf(body), MAX_DETAIL);
  const answer = `${baseUrl} answered ${String(response.status)}${said === '' ? '' : `: ${said}`}`;
  if (response.ok || (response.status >= 300 && response.status < 400)) {
    return {
      state: 'fail',
      detail: `${baseUrl} does not speak the Messages API (status ${String(response.status)})`,
      mend: 'Correct ANTHROPIC_BASE_URL: it is the address before /v1/messages.',
    };
  }
  switch (response.status) {
    case 401:
      return { state: 'fail', detail: `the key is refused: ${answer}`, mend: 'Correct ANTHROPIC_API_KEY.' };
    case 403:
      return {
        state: 'fail',
        detail: `the key may not use ${model}: ${answer}`,
        mend: 'Take a key that may, or another model (SUREHAND_MODEL).',
      };
    case 404:
      return {
        state: 'fail',
        detail: `the model or the address is not known: ${answer}`,
        mend: `Correct SUREHAND_MODEL ("${model}") or ANTHROPIC_BASE_URL.`,
      };
    case 429:
      return {
        state: 'warn',
        detail: `the key works, but its rate limit is used up: ${answer}`,
        mend: 'Runs wait and try again by themselves; raise the limit if it lasts.',
      };
    default:
      return response.status >= 500
        ? {
            state: 'warn',
            detail: `the endpoint is in trouble: ${answer}`,
            mend: 'Runs try again by themselves; try later.',
          }
        : { state: 'fail', detail: `the request is refused: ${answer}`, mend: 'Mend what the answer names.' };
  }
}

function unreachable(error: unknown, { baseUrl, timeoutMs }: Target): Finding {
  const mend = 'Look at ANTHROPIC_BASE_URL, at the network, and at a proxy (https_proxy).';
  if (field(error, 'name') === 'TimeoutError') {
    return { state: 'fail', detail: `${baseUrl} did not answer within ${String(timeoutMs / 1000)} s`, mend };
  }
  return { state: 'fail', detail: `${baseUrl} cannot be reached: ${causeOf(error)}`, mend };
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name cannot be resolved',
  EAI_AGAIN: 'the name cannot be resolved at the moment',
  ECONNREFUSED: 'nothing listens there',
};

/** fetch says only "fetch failed"; the reason is its cause. */
function causeOf(error: unknown): string {
  const cause = field(error, 'cause') ?? error;
  const code = field(cause, 'code');
  const known = typeof code === 'string' ? (CAUSES[code] ?? code) : undefined;
  return known ?? String(field(cause, 'message') ?? cause);
}

/** By shape: what fetch throws need not be an instance of this realm's Error. */
function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function isMessage(body: string): boolean {
  return field(parse(body), 'type') === 'message';
}

/** The API's own words; an HTML page has none worth showing. */
function messageOf(body: string): string {
  const message = field(field(parse(body), 'error'), 'message');
  return typeof message === 'string' ? message : '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
