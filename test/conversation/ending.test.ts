import type { ResultDocument, RunError } from '../../src/contract/result-document';
import { fitDocument, outcomeOf, resultDocument, tailOf } from '../../src/conversation/ending';
import { recordInline, recordEnvelopes, recordModel, recordTool, settleOpenCalls } from '../../src/conversation/record';
import {
  answer,
  answeredConversation,
  envelope,
  preparedConversation,
  toolResult,
} from '../support/conversation-parts';

const done = { error: null, workflowId: 'wf', now: 4_500 };

function failure(kind: RunError['class']): RunError {
  return { class: kind, message: 'went wrong', retryable: false };
}

function wireBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value), 'utf8');
}

test.each([
  [null, 'done'],
  ['cancelled', 'cancelled'],
  ['unauthenticated', 'unauthenticated'],
  ['permission_needed', 'denied'],
  ['max_turns', 'limit_reached'],
  ['no_progress', 'limit_reached'],
  ['overloaded', 'unavailable'],
  ['context_window', 'context_exhausted'],
  ['internal', 'failed'],
] as const)('error class %p → outcome %s', (kind, outcome) => {
  expect(outcomeOf(kind === null ? null : failure(kind))).toBe(outcome);
});

test('a task that was done → the whole document', () => {
  const read = recordTool(
    answeredConversation({ calls: [{}, { verdict: 'deny', summary: 'rm x', name: 'bash', reason: 'no' }] }),
    toolResult('1.1', { details: { filesChanged: ['b.ts', 'a.ts'] } }),
  );
  const conversation = recordModel(read, answer(2, { text: 'All done: ✓' }));

  expect(resultDocument(conversation, done)).toEqual({
    schemaVersion: 1,
    runId: 'run-1',
    workflowId: 'wf',
    outcome: 'done',
    isError: false,
    text: 'All done: ✓',
    textBytes: 13,
    structured: null,
    turns: 2,
    durationMs: 3_500,
    usage: { test: { input: 20, output: 2, cacheRead: 0, cacheWrite: 0 } },
    costUsd: 0.02,
    denials: [{ call: '1.2', tool: 'bash', summary: 'rm x', reason: 'no' }],
    filesChanged: ['b.ts', 'a.ts'],
    error: null,
  });
});

test('a run that ended before anything was said → empty text, the error, no negative time', () => {
  const error = failure('workspace_missing');

  expect(resultDocument(preparedConversation(), { error, workflowId: 'wf', now: 0 })).toMatchObject({
    outcome: 'failed',
    isError: true,
    text: '',
    textBytes: 0,
    turns: 0,
    durationMs: 0,
    error,
  });
});

describe('the document in memo and failure details', () => {
  const document: ResultDocument = resultDocument(answeredConversation({ text: 'Short.' }), done);

  test('a small document stays as it is', () => {
    expect(fitDocument(document)).toEqual(document);
  });

  test.each([
    ['plain', 'x'.repeat(3_000_000)],
    ['of control characters', '\u0001'.repeat(3_000_000)],
    ['of emoji', '😀'.repeat(750_000)],
  ])('a text of 3 MB, %s → at most 16 KB of JSON, textBytes tells the whole size', (_title, text) => {
    const long = resultDocument(answeredConversation({ text }), done);

    const fitted = fitDocument(long);

    expect(wireBytes(fitted.text)).toBeLessThanOrEqual(16_384);
    expect(fitted.textBytes).toBe(Buffer.byteLength(text));
    expect({ ...fitted, text: '' }).toEqual({ ...long, text: '' });
  });

  test('thousands of denials and files → both lists are shortened, the rest stays word for word', () => {
    const denial = (index: number) => ({
      call: `${String(index)}.1`,
      tool: 'bash',
      summary: 's'.repeat(90),
      reason: 'no',
    });
    const denials = Array.from({ length: 5_000 }, (_, index) => denial(index));
    const filesChanged = Array.from({ length: 20_000 }, (_, index) => `src/some/folder/file-${String(index)}.ts`);

    const long = { ...document, text: 't'.repeat(10_000) };

    const fitted = fitDocument({ ...long, denials, filesChanged });

    expect(wireBytes(fitted)).toBeLessThanOrEqual(65_536);
    expect({ ...fitted, denials: [], filesChanged: [] }).toEqual(long);
    expect(fitted.denials.length).toBeGreaterThan(10);
    expect(fitted.denials).toEqual(denials.slice(0, fitted.denials.length));
    expect(fitted.filesChanged.length).toBeGreaterThan(100);
    expect(fitted.filesChanged).toEqual(filesChanged.slice(0, fitted.filesChanged.length));
  });

  test('an error of 3 MB → 64 KB at most in all', () => {
    const error = { ...failure('internal'), message: 'e'.repeat(3_000_000) };

    expect(wireBytes(fitDocument({ ...document, error }))).toBeLessThanOrEqual(65_536);
  });
});

describe('the tail', () => {
  test('nothing after the last answer → no references', () => {
    expect(tailOf(recordModel(answeredConversation(), answer(2)))).toEqual({ after: 'm2', added: [] });
  });

  test('results and a message after the last answer → results in call order first, then what else came', () => {
    const open = answeredConversation({ calls: [{}, {}, {}] });
    const one = recordTool(recordEnvelopes(open, [envelope('a')]), toolResult('1.2'));
    const conversation = settleOpenCalls(recordInline(one, '1.1', 'Interrupted.'), 'Not run.');

    expect(tailOf(conversation)).toEqual({
      after: 'm1',
      added: [
        { inline: { call: '1.1', text: 'Interrupted.' } },
        { activity: 'tool-1.2', id: 'r1.2' },
        { inline: { call: '1.3', text: 'Not run.' } },
        { message: 'a' },
      ],
    });
  });

  test('many long inline results → at most 64 KB', () => {
    const calls = Array.from({ length: 60 }, () => ({}));
    const conversation = settleOpenCalls(answeredConversation({ calls }), 'x'.repeat(3_000_000));

    expect(wireBytes(tailOf(conversation))).toBeLessThanOrEqual(65_536);
    expect(tailOf(conversation).added).toHaveLength(60);
  });
});
