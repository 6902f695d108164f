import { addedRefs, openConversation } from '../../src/conversation/conversation';
import {
  messagesForModel,
  recordInline,
  recordEnvelopes,
  recordModel,
  recordNudge,
  recordPrepared,
  recordTool,
  resultBlock,
  settleOpenCalls,
} from '../../src/conversation/record';
import {
  answer,
  answeredConversation,
  envelope,
  plannedCall,
  preparedConversation,
  toolResult,
  workspaceFacts,
} from '../support/conversation-parts';
import { runInput } from '../support/run-input';

const text = (words: string) => ({ type: 'text', text: words }) as const;
const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content }) as const;
const errorResult = (id: string, content: string) => ({ ...result(id, content), is_error: true }) as const;

describe('the opening', () => {
  test('a new conversation → empty, with an absolute deadline only if there is a time limit', () => {
    const input = runInput();
    const limited = { ...input, limits: { ...input.limits, maxTimeMs: 500 } };

    const conversation = openConversation({ input, runId: 'run-1', now: 1_000 });

    expect(conversation).toMatchObject({ v: 2, firstRunId: 'run-1', startedAt: 1_000, deadlineAt: null, costUsd: 0 });
    expect(messagesForModel(conversation)).toEqual([]);
    expect(openConversation({ input: limited, runId: 'run-1', now: 1_000 }).deadlineAt).toBe(1_500);
  });

  test('prepared → the task is the first message; entry 0 is told to readers, not to the model', () => {
    const conversation = preparedConversation(runInput({ task: 'Fix it.' }));

    expect(conversation.facts).toEqual(workspaceFacts);
    expect(messagesForModel(conversation)).toEqual([{ role: 'user', content: [text('Fix it.')] }]);
    expect(addedRefs(conversation)).toEqual([{ prepared: 'prepared-1' }, { task: true }]);
  });

  test('a message that came before the preparation ended → behind the task', () => {
    const input = runInput({ task: 'Fix it.' });
    const early = recordEnvelopes(openConversation({ input, runId: 'run-1', now: 0 }), [envelope('a')]);

    const conversation = recordPrepared(early, { id: 'p', facts: workspaceFacts }, input);

    expect(messagesForModel(conversation)).toEqual([{ role: 'user', content: [text('Fix it.'), text('message a')] }]);
  });
});

describe('the model answered', () => {
  test('what was pending is in the window, its calls are open', () => {
    const conversation = answeredConversation({ calls: [{}, { effect: 'write' }] });

    expect(conversation).toMatchObject({ turn: 1, after: 'm1', pending: [], stopReason: 'tool_use', stopDetail: null });
    expect(conversation.window.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(conversation.calls.map(({ call, input, settled }) => [call, input, settled])).toEqual([
      ['1.1', { n: 1 }, undefined],
      ['1.2', { n: 2 }, undefined],
    ]);
    expect(conversation.usage).toEqual({ test: { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 } });
    expect(conversation.costUsd).toBe(0.01);
  });

  test('coercion changed an input → the call has the coerced one, the window what the model sent', () => {
    const conversation = answeredConversation({ calls: [{ input: { n: '1' } }] });

    expect(conversation.calls[0]?.input).toEqual({ n: '1' });
    expect(conversation.window[1]?.content[1]).toMatchObject({ input: { n: 1 } });
  });

  test('a plan of no block → an empty input', () => {
    const reply = { ...answer(1), calls: [plannedCall(1, 1)] };

    expect(recordModel(preparedConversation(), reply).calls[0]?.input).toEqual({});
  });

  test('a call of unknown cost → the sum is unknown from then on', () => {
    const unknown = answeredConversation({ result: { costUsd: null } });

    expect(unknown.costUsd).toBeNull();
    expect(recordModel(unknown, answer(2)).costUsd).toBeNull();
  });

  test('the endpoint explained a refusal → kept', () => {
    const conversation = answeredConversation({ result: { stopReason: 'refusal', stopDetail: 'no' } });

    expect(conversation).toMatchObject({ stopReason: 'refusal', stopDetail: 'no' });
  });
});

describe('a call that may not run has its result at once', () => {
  const conversation = answeredConversation({
    calls: [
      { known: false, reason: 'there is no tool named x' },
      { verdict: 'deny', reason: 'read-only', name: 'bash', summary: 'rm x' },
      { verdict: 'ask', reason: 'a change', name: 'write_file', summary: 'a.ts' },
      {},
    ],
  });

  test('unknown, denied and asked-for calls → error results that say why; the last one is open', () => {
    const unasked = "Not run, it would need a person's approval, which cannot be given here: a change";

    expect(conversation.calls.map(({ settled }) => settled?.block)).toEqual([
      errorResult('toolu_1_1', 'there is no tool named x'),
      errorResult('toolu_1_2', 'Not run, denied: read-only'),
      errorResult('toolu_1_3', unasked),
      undefined,
    ]);
    expect(addedRefs(conversation)).toEqual([
      { inline: { call: '1.1', text: 'there is no tool named x' } },
      { inline: { call: '1.2', text: 'Not run, denied: read-only' } },
      { inline: { call: '1.3', text: unasked } },
    ]);
  });

  test('denied and asked-for calls → in the list of denials; an unknown one is none', () => {
    expect(conversation.denials).toEqual([
      { call: '1.2', tool: 'bash', summary: 'rm x', reason: 'read-only' },
      { call: '1.3', tool: 'write_file', summary: 'a.ts', reason: 'a change' },
    ]);
    expect(conversation.blockedBy).toEqual(conversation.denials[1]);
  });

  test('a reason of 3 MB → the result and its reference hold the same short text', () => {
    const { calls } = answeredConversation({ calls: [{ known: false, reason: 'x'.repeat(3_000_000) }] });
    const { ref, block } = calls[0]?.settled ?? {};

    expect(block?.content.length).toBeLessThanOrEqual(4_000);
    expect(ref).toEqual({ inline: { call: '1.1', text: block?.content } });
  });
});

describe('results', () => {
  test('a result as the model reads it → marked as an error only if it is one', () => {
    expect(resultBlock('id', 'x', false)).toEqual(result('id', 'x'));
    expect(resultBlock('id', 'x', true)).toEqual(errorResult('id', 'x'));
  });

  test('results in another order, and a message → one user message: results in call order, then the text', () => {
    const open = recordEnvelopes(answeredConversation({ calls: [{}, {}] }), [envelope('a')]);
    const conversation = recordTool(recordTool(open, toolResult('1.2', { status: 'failed' })), toolResult('1.1'));

    expect(messagesForModel(conversation).slice(2)).toEqual([
      {
        role: 'user',
        content: [result('toolu_1_1', 'result 1.1'), errorResult('toolu_1_2', 'result 1.2'), text('message a')],
      },
    ]);
    expect(addedRefs(conversation)).toEqual([
      { activity: 'tool-1.1', id: 'r1.1' },
      { activity: 'tool-1.2', id: 'r1.2' },
      { message: 'a' },
    ]);
  });

  test('a call that needs a confirmation → an error result', () => {
    const conversation = recordTool(
      answeredConversation({ calls: [{}] }),
      toolResult('1.1', { status: 'need_confirm' }),
    );

    expect(conversation.calls[0]?.settled?.block).toEqual(errorResult('toolu_1_1', 'result 1.1'));
  });

  test('a second result for the same call → the first one stays', () => {
    const once = recordTool(answeredConversation({ calls: [{}] }), toolResult('1.1'));
    const twice = recordInline(recordTool(once, toolResult('1.1', { id: 'other', message: 'other' })), '1.1', 'lost');

    expect(twice.calls).toEqual(once.calls);
  });

  test('changed files → each once, in the order of their change', () => {
    const open = answeredConversation({ calls: [{}, {}] });
    const first = recordTool(open, toolResult('1.1', { details: { filesChanged: ['b', 'a'] } }));

    expect(recordTool(first, toolResult('1.2', { details: { filesChanged: ['a', 'c'] } })).filesChanged).toEqual([
      'b',
      'a',
      'c',
    ]);
  });

  test('open calls are settled → those alone, in call order', () => {
    const open = recordTool(answeredConversation({ calls: [{}, {}, {}] }), toolResult('1.2'));

    const conversation = settleOpenCalls(open, 'Not run.');

    expect(conversation.calls.map(({ settled }) => settled?.block)).toEqual([
      errorResult('toolu_1_1', 'Not run.'),
      result('toolu_1_2', 'result 1.2'),
      errorResult('toolu_1_3', 'Not run.'),
    ]);
    expect(settleOpenCalls(conversation, 'again')).toEqual(conversation);
  });
});

describe('texts', () => {
  test('a note → behind the messages before it, told by its own words', () => {
    const conversation = recordNudge(recordEnvelopes(answeredConversation(), [envelope('a')]), {
      kind: 'cut',
      results: '',
      note: 'Go on.',
    });

    expect(messagesForModel(conversation)[2]).toEqual({ role: 'user', content: [text('message a'), text('Go on.')] });
    expect(addedRefs(conversation)).toEqual([{ message: 'a' }, { note: 'Go on.' }]);
    expect(conversation.nudges).toBe(1);
  });

  test('an input without a text → an empty one', () => {
    const conversation = recordEnvelopes(answeredConversation(), [envelope('a', { body: {} })]);

    expect(messagesForModel(conversation)[2]).toEqual({ role: 'user', content: [text('')] });
  });

  test('nothing since the last answer → the window ends with it', () => {
    expect(messagesForModel(answeredConversation()).map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});

describe('the plan', () => {
  const write = (input: unknown, status: 'success' | 'failed' = 'success') =>
    recordTool(
      answeredConversation({ calls: [{ name: 'todo_write', input }] }),
      toolResult('1.1', { tool: 'todo_write', status }),
    ).todos;

  test('written → part of the conversation; refused or odd → not', () => {
    const todos = [{ text: 'look', status: 'in_progress' }];

    expect(write({ todos })).toEqual(todos);
    expect(write({ todos }, 'failed')).toEqual([]);
    expect(write({})).toEqual([]);
  });

  test('of 3 MB → cut to a few KB', () => {
    const todos = Array.from({ length: 3_000 }, () => ({ text: 'x'.repeat(1_000), status: 'pending' }));

    expect(JSON.stringify(write({ todos })).length).toBeLessThan(9_000);
  });
});
