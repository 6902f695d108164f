export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The record under a key, or an empty one. */
export function recordAt(value: JsonRecord, key: string): JsonRecord {
  const found = value[key];
  return isRecord(found) ? found : {};
}

export function stringAt(value: JsonRecord, key: string): string | undefined {
  const found = value[key];
  return typeof found === 'string' ? found : undefined;
}

/** A count, or `undefined` for what is missing, null or no sensible number. */
export function countAt(value: JsonRecord, key: string): number | undefined {
  const found = value[key];
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? Math.round(found) : undefined;
}
