import fc from 'fast-check';
import { cutLine, visibleLine, visibleText } from '../../src/cli/visible-text';

test.each([
  ['a terminal sequence', '\u001b[31mred\u001b[0m', '^[[31mred^[[0m'],
  ['a carriage return that would overwrite the line', 'safe\rrm -rf', 'safe^Mrm -rf'],
  ['backspace and bell', 'a\b\u0007', 'a^H^G'],
  ['C1 controls', '\u009b2J', '\\x9b2J'],
  ['text direction marks', 'abc\u202edef', 'abc\\u202edef'],
  ['characters without width', 'a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
])('visibleText: %s → shown, not obeyed', (_name, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('visibleText: ordinary text, tabs and line ends → as they are', () => {
  expect(visibleText('Grüße, 世界 🎉\n\tnext\r\nlast')).toBe('Grüße, 世界 🎉\n\tnext\nlast');
});

test('visibleText: any text → nothing left that a terminal obeys', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      // eslint-disable-next-line no-control-regex -- what must not be there
      expect(visibleText(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

test('visibleLine: several lines → one, cut with an ellipsis, never half a character', () => {
  expect(visibleLine('  a\n\n  b\tc ', 80)).toBe('a b c');
  expect(visibleLine('abcdef', 4)).toBe('abc…');
  expect(cutLine('🎉🎉🎉', 2)).toBe('🎉…');
});
