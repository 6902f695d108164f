/** What an approval is for: exactly this tool, with exactly this input, in exactly this directory. */
export interface DigestedCall {
  readonly tool: string;
  /** The final input, after coercion. */
  readonly input: unknown;
  /** Canonical path of the workspace. */
  readonly directory: string;
}

/**
 * The text whose hash an approval binds to. Equal calls give equal texts whatever the order of their keys; any other
 * difference gives another text. The caller hashes it.
 */
export function digestText(call: DigestedCall): string {
  return `v1:${canonicalJson([call.tool, call.directory, call.input])}`;
}

/** JSON with sorted keys and no white space; absent values are written as JSON does. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (value === undefined) return 'null';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`);
  return `{${entries.join(',')}}`;
}
