import { newWorkflowId } from '../../src/cli/run-id';

const SUFFIX = '-[a-z2-9]{4}$';

test.each([
  ['Fix the failing test!', '^fix-the-failing-test'],
  ['  Überprüfe die Prüfung\nzweite Zeile', '^uberprufe-die-prufung-zweite'],
  ['修复测试', '^run'],
  ['please go through all of the source files and rename', '^please-go-through-all-of-the'],
  [`${'x'.repeat(50)} more`, `^${'x'.repeat(32)}`],
])('newWorkflowId: %j → words that a person recognises, and a random end', (task, start) => {
  expect(newWorkflowId(task)).toMatch(new RegExp(start + SUFFIX));
});

test('newWorkflowId: the same task twice → two ids', () => {
  const ids = new Set(Array.from({ length: 50 }, () => newWorkflowId('a task')));
  expect(ids.size).toBeGreaterThan(45);
});
