import fc from 'fast-check';
import { canonicalJson, digestText } from '../../src/permissions/digest-text';

test('the text is pinned: an approval given by one version holds in the next', () => {
  expect(digestText({ tool: 'bash', input: { command: 'npm test', cwd: 'a' }, directory: '/w' })).toBe(
    'v1:["bash","/w",{"command":"npm test","cwd":"a"}]',
  );
});

test('another order of keys → the same text; another tool, input or directory → another', () => {
  const call = { tool: 'bash', input: { command: 'a', cwd: 'b' }, directory: '/w' };
  expect(digestText({ ...call, input: { cwd: 'b', command: 'a' } })).toBe(digestText(call));
  const others = [
    { ...call, tool: 'bash2' },
    { ...call, directory: '/w2' },
    { ...call, input: { command: 'a ', cwd: 'b' } },
    { ...call, input: { command: 'a' } },
    { ...call, input: null },
  ];
  expect(new Set([call, ...others].map(digestText)).size).toBe(6);
});

test('property: canonical JSON reads back as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('absent values → as JSON has them', () => {
  expect(canonicalJson({ b: undefined, a: [undefined, 1] })).toBe('{"a":[null,1]}');
  expect(canonicalJson(undefined)).toBe('null');
});
