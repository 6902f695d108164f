import { formatAge, formatBytes, formatCost, formatCount, formatDuration, parseDuration } from '../../src/cli/format';

test.each([
  [0, '0.0 s'],
  [340, '0.3 s'],
  [59_900, '59.9 s'],
  [185_000, '3 min 05 s'],
  [7_620_000, '2 h 07 min'],
  [273_600_000, '3 d 4 h'],
])('formatDuration: %d ms → %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [10, 'now'],
  [40_500, '40 s'],
  [300_000, '5 min'],
  [3 * 3_600_000, '3 h'],
  [49 * 3_600_000, '2 d'],
])('formatAge: %d ms → %s', (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});

test.each([
  ['90s', 90_000],
  ['90', 90_000],
  ['1.5', 1_500],
  ['500ms', 500],
  ['1h30m', 5_400_000],
  ['2d', 172_800_000],
])('parseDuration: %s → %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '0', '0s', '-1', '10x', '1h 30m', 'h', '1e3', 'Infinity', '99999999999999999999d'])(
  'parseDuration: "%s" → nothing',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test('numbers are grouped and money shows what matters, whatever the locale', () => {
  expect([formatCount(0), formatCount(999), formatCount(1_234_567)]).toEqual(['0', '999', '1,234,567']);
  expect([formatCost(0.01234), formatCost(1.5)]).toEqual(['$0.0123', '$1.50']);
  expect([formatBytes(1), formatBytes(512), formatBytes(131_073), formatBytes(5_000_000)]).toEqual([
    '1 byte',
    '512 bytes',
    '128.0 KB',
    '4.8 MB',
  ]);
});
