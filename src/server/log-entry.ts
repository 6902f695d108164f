import { z } from 'zod';

const entrySchema = z.looseObject({
  time: z.iso.datetime(),
  level: z.string(),
  source: z.string(),
  text: z.string(),
  workflowId: z.string().optional(),
  runId: z.string().optional(),
});

/** A line of a structured log. */
export type LogEntry = z.infer<typeof entrySchema>;

/** Undefined for what is no line of ours: half a line at a crash, another program's text. */
export function parseEntry(line: string): LogEntry | undefined {
  try {
    const parsed = entrySchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Told by its place, or of use to programs only. */
const UNSHOWN = new Set([
  ...['time', 'level', 'source', 'text', 'workflowId', 'runId', 'workflowRunId', 'workflowType', 'isLocal'],
  ...['namespace', 'taskQueue', 'taskToken', 'sdkComponent'],
]);
const LONGEST_VALUE = 300;

/** `2026-01-31T12:00:00.123Z info  worker my-run · tool start  callId=m-1 tool=bash`; an error's stack on further lines. */
export function formatEntry(entry: LogEntry): string {
  const { time, level, source, text, workflowId } = entry;
  const fields = Object.entries(entry).flatMap(([key, value]) => formatField(key, value));
  const run = workflowId === undefined ? '' : ` ${workflowId} ·`;
  return `${time} ${level.padEnd(5)} ${source}${run} ${[text, fields.join(' ')].join('  ').trimEnd()}${formatStack(entry)}`;
}

function formatField(key: string, value: unknown): string[] {
  if (UNSHOWN.has(key) || value === undefined || value === null) return [];
  const shown = isError(value) ? value.message : typeof value === 'string' ? value : JSON.stringify(value);
  return [`${key}=${shown.length > LONGEST_VALUE ? `${shown.slice(0, LONGEST_VALUE)}…` : shown}`];
}

/** An expected failure is told by its message; where it was made tells nothing. */
function formatStack({ error }: LogEntry): string {
  if (!isError(error) || error.stack === undefined || error.type === 'ApplicationFailure') return '';
  return `\n  ${error.stack.split('\n').join('\n  ')}`;
}

function isError(
  value: unknown,
): value is { readonly message: string; readonly stack?: string; readonly type?: string } {
  return typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';
}
