import { z } from 'zod';
import { coerceInput } from '../../src/tools/coerce';

const schema = z.object({
  path: z.string(),
  offset: z.int().min(1).optional(),
  share: z.number().optional(),
  all: z.boolean().optional(),
  names: z.array(z.string()).optional(),
  lines: z.array(z.int()).optional(),
  deep: z.object({ a: z.int() }).optional(),
});

test.each<[string, unknown, Record<string, unknown>, boolean]>([
  ['nothing to do', { path: 'a', offset: 2 }, { path: 'a', offset: 2 }, false],
  ['another order of keys', { offset: 2, path: 'a' }, { path: 'a', offset: 2 }, false],
  ['a number in a string', { path: 'a', offset: '20' }, { path: 'a', offset: 20 }, true],
  ['a whole number with a fraction of nought', { path: 'a', offset: '20.0' }, { path: 'a', offset: 20 }, true],
  ['a negative number, an exponent', { path: 'a', share: '-2.5e1' }, { path: 'a', share: -25 }, true],
  ['a boolean in a string', { path: 'a', all: 'True' }, { path: 'a', all: true }, true],
  ['null for an option', { path: 'a', offset: null, all: null }, { path: 'a' }, true],
  ['JSON in a string for an array', { path: 'a', names: '["x","y"]' }, { path: 'a', names: ['x', 'y'] }, true],
  ['numbers in strings in an array', { path: 'a', lines: ['1', 2] }, { path: 'a', lines: [1, 2] }, true],
  ['JSON in a string for an object', { path: 'a', deep: '{"a":1}' }, { path: 'a', deep: { a: 1 } }, true],
  ['the whole input as JSON in a string', '{"path":"a"}', { path: 'a' }, true],
  ['a string that looks like a number, for a string', { path: '42' }, { path: '42' }, false],
  ['a string that looks like JSON, for a string', { path: '{"a":1}' }, { path: '{"a":1}' }, false],
])('%s → taken', (_, raw, input, changed) => {
  expect(coerceInput(schema, raw)).toEqual({ ok: true, input, changed });
});

test.each<[string, unknown, RegExp]>([
  ['a number for a string', { path: 42 }, /`path`.*string/u],
  ['an object for a string', { path: { a: 1 } }, /`path`.*string/u],
  ['a missing key', { offset: 1 }, /^`path` is missing; nothing was done\. If the answer was cut off/u],
  ['null for what is needed', { path: null }, /^`path` is missing/u],
  [
    'an unknown name',
    { path: 'a', force: true },
    /^There is no `force` in this tool's input; it takes `path`, `offset`/u,
  ],
  ['a fraction for a whole number', { path: 'a', offset: '1.5' }, /`offset`/u],
  ['words for a number', { path: 'a', offset: 'two' }, /`offset`/u],
  ['an empty string for a number', { path: 'a', offset: '' }, /`offset`/u],
  ['hexadecimal for a number', { path: 'a', offset: '0x10' }, /`offset`/u],
  ['a number for a boolean', { path: 'a', all: 1 }, /`all`/u],
  ['an object in a string for an array', { path: 'a', names: '{"a":1}' }, /`names`/u],
  ['an array', [], /must be a JSON object/u],
  ['nothing', undefined, /must be a JSON object/u],
  ['broken JSON', '{"path":', /must be a JSON object/u],
  ['a key of Object’s own', JSON.parse('{"__proto__": 1, "path": "a"}'), /There is no `__proto__`/u],
])('%s → refused, by name', (_, raw, message) => {
  const result = coerceInput(schema, raw);
  expect(result).toMatchObject({ ok: false });
  expect(result.ok ? '' : result.message).toMatch(message);
});

test('an open schema → the object as it is, also from a text; anything else is refused', () => {
  const open = z.looseObject({});

  expect(coerceInput(open, { ok: null, more: { deep: [1] } })).toEqual({
    ok: true,
    input: { ok: null, more: { deep: [1] } },
    changed: false,
  });
  expect(coerceInput(open, '{"ok": 1}')).toEqual({ ok: true, input: { ok: 1 }, changed: true });
  expect(coerceInput(open, ['ok'])).toMatchObject({ ok: false });
});
