import { LineCounter, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { z } from 'zod';
import { PortError } from '../../contract/port-error';

const MAX_SCRIPT_BYTES = 512 * 1024;
const MAX_ISSUES = 5;

const count = z.int().min(0);
const text = z.string();

const callSchema = z.strictObject({ id: text.optional(), name: text, input: z.json().default({}) });

const turnSchema = z
  .strictObject({
    text: text.optional(),
    calls: z.array(callSchema).optional(),
    content: z.array(z.looseObject({ type: text })).optional(),
    expect: z.strictObject({ lastResults: z.array(text) }).optional(),
    usage: z
      .strictObject({
        input: count.default(0),
        output: count.default(0),
        cacheRead: count.default(0),
        cacheWrite: count.default(0),
      })
      .optional(),
    stop: text.optional(),
    delayMs: count.max(3_600_000).default(0),
  })
  .refine((turn) => turn.text !== undefined || turn.calls !== undefined || turn.content !== undefined, {
    error: 'a turn needs `text`, `calls` or `content`',
  })
  .refine((turn) => turn.content === undefined || (turn.text === undefined && turn.calls === undefined), {
    error: '`content` stands for `text` and `calls`: give one or the other',
  });

const errorSchema = z.strictObject({
  error: z
    .strictObject({
      status: z.int().min(300).max(599).optional(),
      type: text.optional(),
      message: text.optional(),
      times: z.int().min(1).default(1),
      retryAfterMs: count.optional(),
    })
    .refine((error) => error.status !== undefined || error.type !== undefined, {
      error: 'an error needs `status` or `type`',
    }),
});

const scriptSchema = z.strictObject({ turns: z.array(z.unknown()), summaries: z.array(text).default([]) });

export type ScriptTurn = z.infer<typeof turnSchema>;
export type ScriptError = z.infer<typeof errorSchema>['error'];

/** One model call of the script: what the endpoint does on the first tries, then the answer (absent past the end). */
export interface ScriptedCall {
  readonly failures: readonly ScriptError[];
  readonly turn?: ScriptTurn;
}

export interface Script {
  /** The k-th answers turn k. The last may lack its answer: errors at the end of the script. */
  readonly calls: readonly ScriptedCall[];
  readonly turnCount: number;
  readonly summaries: readonly string[];
}

/** Parses the text of a script. Throws `PortError` `script_invalid` that names each fault with its line. */
export function parseScript(source: string): Script {
  if (Buffer.byteLength(source) > MAX_SCRIPT_BYTES) throw invalid(['it is larger than 512 KB']);
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors.map((e) => `line ${String(lines.linePos(e.pos[0]).line)}: ${e.message}`);
  if (broken.length > 0) throw invalid(broken);
  const faults: string[] = [];
  const parse = <T>(schema: z.ZodType<T>, value: unknown, path: readonly PropertyKey[]): T | undefined => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues)
      faults.push(describeIssue(document, lines, [...path, ...issue.path], issue));
    return undefined;
  };
  const script = parse(scriptSchema, toJs(document), []);
  const entries = (script?.turns ?? []).map((entry, index) =>
    isErrorEntry(entry) ? parse(errorSchema, entry, ['turns', index]) : parse(turnSchema, entry, ['turns', index]),
  );
  if (script === undefined || faults.length > 0) throw invalid(faults);
  return { ...groupCalls(entries.filter((entry) => entry !== undefined)), summaries: script.summaries };
}

function groupCalls(entries: readonly (ScriptTurn | { readonly error: ScriptError })[]) {
  const calls: ScriptedCall[] = [];
  let failures: ScriptError[] = [];
  for (const entry of entries) {
    if ('error' in entry) {
      failures = [...failures, entry.error];
      continue;
    }
    calls.push({ failures, turn: entry });
    failures = [];
  }
  const turnCount = calls.length;
  if (failures.length > 0) calls.push({ failures });
  return { calls, turnCount };
}

function isErrorEntry(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'error' in entry;
}

/** Aliases are expanded here; more than the library's limit of them is refused. */
function toJs(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw invalid([error instanceof Error ? error.message : String(error)]);
  }
}

function describeIssue(document: Document, lines: LineCounter, path: readonly PropertyKey[], issue: z.core.$ZodIssue) {
  const where = path.map((key) => (typeof key === 'number' ? `[${String(key)}]` : `.${String(key)}`)).join('');
  const label = where === '' ? 'the script' : where.replace(/^\./, '');
  const line = lineOf(document, lines, path);
  return `${line === undefined ? '' : `line ${String(line)}: `}${label}: ${issue.message}`;
}

/** Line of the value at the path, or of the nearest value around it: a missing key has no line of its own. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const part = path.slice(0, length);
    const node: unknown = length === 0 ? document.contents : document.getIn(part, true);
    if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) continue;
    const start: unknown = node.range[0];
    if (typeof start === 'number') return lines.linePos(start).line;
  }
  return undefined;
}

function invalid(faults: readonly string[]): PortError {
  const more = faults.length > MAX_ISSUES ? `; and ${String(faults.length - MAX_ISSUES)} more` : '';
  return new PortError({
    class: 'script_invalid',
    retryable: false,
    detail: `The scripted model's script is not valid: ${faults.slice(0, MAX_ISSUES).join('; ')}${more}.`,
  });
}
