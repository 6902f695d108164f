import pc from 'picocolors';
import { countDiff, diffLines, stepLine, stepProblem } from '../../src/cli/render-step';
import type { StepView } from '../../src/transcript/view';
import { step } from './support/views';

const colors = pc.createColors(false);
const DIFF = '--- a/x.js\n+++ b/x.js\n@@ -1,2 +1,1 @@\n-const a = 1;\n-const b = 2;\n+const a = 2;\n';

test.each<[string, Partial<StepView>, string]>([
  ['done', {}, '  ✓ 1.1  bash       npm test · 1.2 s'],
  ['summary that names the tool', { summary: 'bash npm test' }, '  ✓ 1.1  bash       npm test · 1.2 s'],
  ['failed command', { status: 'failed', details: { exitCode: 1 } }, '  ✗ 1.1  bash       npm test · 1.2 s · exit 1'],
  [
    'edit',
    { call: '3.2', tool: 'edit_file', summary: 'src/x.js', durationMs: 20, details: { diff: DIFF } },
    '  ✓ 3.2  edit_file  src/x.js · 0.0 s · +1 −2',
  ],
  ['recovered', { details: { origin: 're-attached' } }, '  ✓ 1.1  bash       npm test · 1.2 s · re-attached'],
  ['no summary', { tool: 'list_files', summary: '', durationMs: 3 }, '  ✓ 1.1  list_files 0.0 s'],
])('stepLine: %s', (_name, change, line) => {
  expect(stepLine(step(change), { colors, width: 100 })).toBe(line);
});

test('stepLine: denied, never started → says so and has no time', () => {
  const denied = step({ status: 'denied' });
  delete (denied as { durationMs?: number }).durationMs;
  expect(stepLine(denied, { colors, width: 100 })).toBe('  – 1.1  bash       npm test · denied');
});

test('stepLine: a hostile summary and name → one visible line', () => {
  const line = stepLine(step({ tool: 'a\u001b[2J', summary: 'rm\r\n-rf \u202e/' }), { colors, width: 100 });
  expect(line).toBe('  ✓ 1.1  a^[[2J     rm -rf \\u202e/ · 1.2 s');
});

test('stepLine: a long command is cut to the terminal', () => {
  expect(stepLine(step({ summary: 'x'.repeat(500) }), { colors, width: 100 }).length).toBeLessThan(100);
});

test('stepProblem: first line of what went wrong; nothing for a success', () => {
  expect(stepProblem(step({ status: 'failed', result: '\nold_string not found\nmore' }), 80)).toBe(
    'old_string not found',
  );
  expect(stepProblem(step({ status: 'failed', result: 'line 1\n[cancelled]\n' }), 80)).toBe('[cancelled]');
  expect(stepProblem(step(), 80)).toBeUndefined();
});

test('a diff: lines are counted without its head, and shown with colours', () => {
  expect(countDiff(DIFF)).toEqual({ added: 1, removed: 2 });
  const shown = diffLines('@@ -1 +1 @@\n-a\n+b\n c', pc.createColors(true));
  expect(shown).toEqual(['\u001b[36m@@ -1 +1 @@\u001b[39m', '\u001b[31m-a\u001b[39m', '\u001b[32m+b\u001b[39m', ' c']);
});
