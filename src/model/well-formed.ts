/** With the `u` flag a pair is one character, so only lone halves match. */
const LONE_SURROGATE = /\p{Surrogate}/gu;
const MAX_DEPTH = 200;

/** Replaces lone surrogates by U+FFFD: JSON that holds one is refused by endpoints. */
export function toWellFormed(text: string): string {
  return text.replace(LONE_SURROGATE, '\ufffd');
}

/** The same for every string and key inside a JSON value. What is nested deeper than 200 levels becomes a note. */
export function toWellFormedValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return toWellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '(nested too deeply)';
  if (Array.isArray(value)) return value.map((item) => toWellFormedValue(item, depth + 1));
  // fromEntries defines own properties, so a key `__proto__` stays data.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [toWellFormed(key), toWellFormedValue(item, depth + 1)]),
  );
}

/** False if any string or key inside holds a lone surrogate, or the nesting exceeds 200 levels. */
export function isWellFormedValue(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.search(LONE_SURROGATE) < 0;
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isWellFormedValue(item, depth + 1));
  return Object.entries(value).every(
    ([key, item]) => key.search(LONE_SURROGATE) < 0 && isWellFormedValue(item, depth + 1),
  );
}
