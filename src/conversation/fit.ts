import { codePointBytes, jsonBytes, leafBytes } from './json-size';

/** Bytes that a marker may take. */
const SLACK = 64;
/** Nesting that a shortened copy keeps: beyond it `JSON.stringify` may run out of stack. */
const MAX_DEPTH = 500;
/** Strings are cut to the first before arrays and objects lose parts beyond the second; then the next pair. */
const STAGES = [
  { chars: 1_024, items: 16 },
  { chars: 96, items: 0 },
] as const;

interface Bounds {
  /** UTF-8 bytes of a string or key. */
  readonly chars: number;
  /** Parts of an array or object. */
  readonly items: number;
}

type KeysOf = (value: object) => readonly string[];

/**
 * Bounds whatever leaves workflow code (activity input, update answer, memo, failure details): too large a payload makes
 * the server retry the workflow task for ever. Returns the value itself when it fits; else a copy whose longest strings
 * are cut, marked with how many characters are missing, and then whose longest arrays are shortened.
 * @param value JSON data; nesting that JSON could not be written for is cut off, too.
 * @param maxBytes budget in UTF-8 bytes of JSON, at least 256.
 */
export function fit<T>(value: T, maxBytes: number): T {
  if (isWithin(value, maxBytes)) return value;
  const keysOf = createKeys();
  for (const bounds of tighterAndTighter(maxBytes)) {
    const copy = shorten(value, { ...bounds, maxBytes, keysOf });
    if (copy !== undefined && isWithin(copy, maxBytes)) return copy as T;
  }
  return null as T;
}

/** Cuts text to a budget of UTF-8 bytes at a character border; the marker says how many characters are missing. */
export function cutText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let bytes = 0;
  let kept = 0;
  for (let index = 0; index < text.length;) {
    const code = text.codePointAt(index) as number;
    bytes += codePointBytes(code);
    if (bytes > maxBytes) return `${text.slice(0, kept)}… (${String(text.length - kept)} characters left out)`;
    index += code > 0xffff ? 2 : 1;
    if (bytes <= maxBytes - SLACK) kept = index;
  }
  return text;
}

function* tighterAndTighter(maxBytes: number): Generator<Bounds> {
  let chars = maxBytes;
  let items = maxBytes;
  for (const least of STAGES) {
    for (; chars > least.chars; chars = Math.max(least.chars, Math.floor(chars / 2))) yield { chars, items };
    for (; items > least.items; items = Math.floor(items / 2)) yield { chars, items };
  }
  yield { chars, items };
}

/** Listing the keys of a large object is slow, and each round asks again. */
function createKeys(): KeysOf {
  const known = new Map<object, readonly string[]>();
  return (value) => {
    const keys = known.get(value) ?? Object.keys(value);
    known.set(value, keys);
    return keys;
  };
}

/**
 * A copy within the bounds; `undefined` as soon as it passes `maxBytes`, so that the work of a round does not grow with
 * the value.
 */
function shorten(
  value: unknown,
  { chars, items, maxBytes, keysOf }: Bounds & { readonly maxBytes: number; readonly keysOf: KeysOf },
): unknown {
  let left = maxBytes;
  const spend = <T>(part: T): T => {
    left -= leafBytes(part);
    return part;
  };
  const copyOf = (item: unknown, depth: number): unknown => {
    if (typeof item === 'string') return spend(cutText(item, chars));
    if (typeof item !== 'object' || item === null) return spend(item);
    if (depth === MAX_DEPTH) return spend(null);
    if (Array.isArray(item)) {
      left -= 2;
      const parts: unknown[] = [];
      const count = Math.min(items, item.length);
      for (let index = 0; index < count && left >= 0; index += 1) {
        parts.push(copyOf(item[index], depth + 1));
        left -= 1;
      }
      return parts;
    }
    left -= 2;
    const entries: [string, unknown][] = [];
    const keys = keysOf(item);
    const count = Math.min(items, keys.length);
    for (let index = 0; index < count && left >= 0; index += 1) {
      const key = keys[index] as string;
      const name = spend(cutText(key, chars));
      entries.push([name, copyOf(item[key as keyof typeof item], depth + 1)]);
      left -= 2;
    }
    return Object.fromEntries(entries);
  };
  const copy = copyOf(value, 0);
  return left < 0 ? undefined : copy;
}

function isWithin(value: unknown, maxBytes: number): boolean {
  try {
    return jsonBytes(value) <= maxBytes;
  } catch {
    // Nested too deeply for the stack.
    return false;
  }
}
