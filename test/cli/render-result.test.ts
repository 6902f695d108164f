import { renderDiffs, renderEnd } from '../../src/cli/render-result';
import { renderRun } from '../../src/cli/render-run';
import { fakeIo } from './support/fake-io';
import { resultDocument, runView, step, turn } from './support/views';

test('the end of a good run: outcome, turns, tokens, time, files', () => {
  const result = resultDocument({ filesChanged: ['src/a.js', 'b\u001b.js'], costUsd: 0.25 });
  expect(renderEnd(result, fakeIo())).toEqual([
    'done · 2 turns · 1,234 tokens in, 56 out · $0.25 · 6.2 s',
    '  changed: src/a.js, b^[.js',
  ]);
});

test('the end of a bad run: its reason, class and what was denied', () => {
  const result = resultDocument({
    outcome: 'denied',
    error: { class: 'permission_needed', message: 'needed the network', retryable: false },
    denials: [{ call: '2.1', tool: 'bash', summary: 'curl x', reason: 'nobody answers' }],
  });
  expect(renderEnd(result, fakeIo())).toEqual([
    'denied · 2 turns · 1,234 tokens in, 56 out · 6.2 s',
    '  needed the network (permission_needed)',
    '  denied 2.1 bash curl x: nobody answers',
  ]);
});

test('diffs of a run: in order, and a long one is cut with what is left out', () => {
  const diff = `${Array.from({ length: 200 }, (_, n) => `+line ${n}`).join('\n')}\n`;
  const lines = renderDiffs(runView([turn({ steps: [step({ details: { diff } })] })]), fakeIo());
  expect(lines).toHaveLength(121);
  expect([lines[0], lines[120]]).toEqual(['+line 0', '… 80 more lines']);
});

test('show: the page has task, turns, steps with their results, and how it ended', () => {
  const view = runView(
    [
      turn({ text: 'I look.', steps: [step({ result: Array.from({ length: 30 }, (_, n) => `out ${n}`).join('\n') })] }),
      turn({ turn: 2, said: [{ by: 'ann', text: 'hurry' }], text: 'Done.' }),
    ],
    { closed: true, result: resultDocument(), startedAt: Date.now() - 65_000 },
  );
  const lines = renderRun(view, fakeIo(), { state: 'done', command: 'surehand', full: false });
  expect(lines[0]).toBe('fix-k3f9 · done · started 1 min ago by ann@box');
  expect(lines).toEqual(expect.arrayContaining(['task  fix the test', 'turn 1', '  I look.', 'ann  hurry', '  Done.']));
  expect(lines).toContain('        … 19 more lines (--full)');
  expect(lines[lines.length - 1]).toBe('done · 2 turns · 1,234 tokens in, 56 out · 6.2 s');
  const full = renderRun(view, fakeIo(), { state: 'done', command: 'surehand', full: true });
  expect(full).toContain('        out 29');
});

test('show: an open run says how to follow it', () => {
  const lines = renderRun(runView([]), fakeIo(), { state: 'working', command: './surehand', full: false });
  expect(lines[lines.length - 1]).toBe('The run is open. Follow it: ./surehand attach fix-k3f9');
});
