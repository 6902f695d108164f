import { z } from 'zod';
import { strictSchema } from './registry';

export type Coerced =
  | { readonly ok: true; readonly input: Readonly<Record<string, unknown>>; readonly changed: boolean }
  | { readonly ok: false; readonly message: string };

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The input of a call as its tool takes it. What a model commonly gets wrong in form only is put right by the schema: a
 * number or boolean in a string, JSON in a string for an array or object, `null` for an absent option. Nothing is guessed:
 * a number for a string, an unknown name or a missing key is refused by a sentence that names it.
 *
 * This is the one parse: the gate, the plan and the tool all see the object that is returned.
 */
export function coerceInput(schema: z.ZodObject, raw: unknown): Coerced {
  const json = strictSchema(schema);
  const properties = json['properties'] as Readonly<Record<string, JsonSchema>>;
  const required = json['required'] as readonly string[];
  const given = typeof raw === 'string' ? parseAs(raw, 'object') : raw;
  if (!isRecord(given))
    return { ok: false, message: `The input must be a JSON object with ${nameList(Object.keys(properties))}.` };
  // An open schema leaves the judgement to its tool.
  if (schema.def.catchall instanceof z.ZodUnknown) return { ok: true, input: given, changed: typeof raw === 'string' };
  const known = new Map(Object.entries(properties));
  const unknownNames = Object.keys(given).filter((name) => !known.has(name));
  if (unknownNames.length > 0) {
    return {
      ok: false,
      message: `There is no ${nameList(unknownNames)} in this tool's input; it takes ${nameList([...known.keys()])}.`,
    };
  }
  const entries = Object.entries(given)
    .filter(([name, value]) => value !== null || required.includes(name))
    .map(([name, value]) => [name, coerceValue(value, known.get(name) ?? {})] as const);
  const input = Object.fromEntries(entries);
  const missing = required.filter((name) => !Object.hasOwn(input, name) || input[name] === null);
  if (missing.length > 0) {
    return {
      ok: false,
      message: `${nameList(missing)} is missing; nothing was done. If the answer was cut off, send the call again, whole.`,
    };
  }
  const parsed = schema.safeParse(input);
  if (!parsed.success) return { ok: false, message: `The input is not valid: ${issueList(parsed.error)}.` };
  return { ok: true, input: parsed.data, changed: canonical(parsed.data) !== canonical(raw) };
}

function coerceValue(value: unknown, schema: JsonSchema): unknown {
  const type = schema['type'];
  if (Array.isArray(value) && isRecord(schema['items'])) {
    const items: JsonSchema = schema['items'];
    return value.map((item) => coerceValue(item, items));
  }
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if ((type === 'number' || type === 'integer') && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(text))
    return Number(text);
  if (type === 'boolean' && /^(?:true|false)$/iu.test(text)) return text.toLowerCase() === 'true';
  if (type === 'array' || type === 'object') return parseAs(text, type) ?? value;
  return value;
}

/** JSON of the wanted form, or undefined. */
function parseAs(text: string, type: 'array' | 'object'): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return (type === 'array' ? Array.isArray(value) : isRecord(value)) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameList(names: readonly string[]): string {
  return names.map((name) => `\`${name.slice(0, 80)}\``).join(', ');
}

function issueList(error: z.ZodError): string {
  const issues = error.issues.slice(0, 5).map((issue) => `\`${issue.path.join('.')}\`: ${issue.message}`);
  return issues.join('; ');
}

/** Order of keys does not matter: endpoints differ in it. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
