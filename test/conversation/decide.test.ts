import type { CallModelResult } from '../../src/contract/activity';
import type { Conversation } from '../../src/conversation/conversation';
import { decideNext } from '../../src/conversation/decide';
import { recordEnvelopes, recordModel, recordNudge, recordTool } from '../../src/conversation/record';
import {
  answer,
  answeredConversation,
  envelope,
  preparedConversation,
  toolResult,
  type AnswerOptions,
} from '../support/conversation-parts';
import { runInput } from '../support/run-input';

const task = runInput();
const chat = runInput({ kind: 'chat' });
const NOW = 2_000;

function stopped(stopReason: string, options: AnswerOptions = {}): Conversation {
  return answeredConversation({ ...options, result: { ...options.result, stopReason } });
}

function withMessage(conversation: Conversation): Conversation {
  return recordEnvelopes(conversation, [envelope('a')]);
}

/** What is decided, short enough for a table. */
function decided(conversation: Conversation, input = task): string {
  const next = decideNext(conversation, input, NOW);
  if (next.do === 'runBatch') return `run ${next.calls.map(({ call }) => call).join(' ')}`;
  if (next.do === 'end') return `end ${next.error?.class ?? 'done'}`;
  return next.do;
}

const oneRead = { calls: [{}] };

describe('a stop reason decides what comes next', () => {
  test.each([
    ['before the first answer', preparedConversation(), 'callModel'],
    ['end_turn with a text', stopped('end_turn'), 'end done'],
    ['stop_sequence with a text', stopped('stop_sequence'), 'end done'],
    ['tool_use without calls but with a text', stopped('tool_use'), 'end done'],
    ['tool_use with a call', stopped('tool_use', oneRead), 'run 1.1'],
    ['end_turn with a call', stopped('end_turn', oneRead), 'run 1.1'],
    ['end_turn without a text', stopped('end_turn', { text: null }), 'nudge'],
    ['end_turn with blanks alone', stopped('end_turn', { text: ' \n' }), 'nudge'],
    ['end_turn with the stand-in for an empty answer', stopped('end_turn', { text: '(empty answer)' }), 'nudge'],
    ['max_tokens with a text', stopped('max_tokens'), 'nudge'],
    ['max_tokens with a call', stopped('max_tokens', oneRead), 'nudge'],
    ['model_context_window_exceeded', stopped('model_context_window_exceeded'), 'nudge'],
    ['pause_turn', stopped('pause_turn'), 'callModel'],
    ['pause_turn with a call', stopped('pause_turn', oneRead), 'run 1.1'],
    ['refusal', stopped('refusal'), 'end refused'],
    ['a reason unknown here', stopped('solar_flare'), 'end internal'],
  ])('%s', (_title, conversation, expected) => {
    expect(decided(conversation)).toBe(expected);
  });

  test('a refusal → the endpoint’s words are in the error', () => {
    const conversation = stopped('refusal', { result: { stopDetail: 'not this' } });

    expect(decideNext(conversation, task, NOW)).toEqual({
      do: 'end',
      error: { class: 'refused', message: 'the model refused: not this', retryable: false },
    });
  });

  test('an explanation of 3 MB → the error is a sentence that a failure can carry', () => {
    const next = decideNext(stopped('refusal', { result: { stopDetail: 'x'.repeat(3_000_000) } }), task, NOW);

    expect(next.do === 'end' && next.error?.message.length).toBeLessThanOrEqual(2_000);
  });
});

describe('messages of people and open calls', () => {
  test.each([
    ['after an answer that would end the task', withMessage(stopped('end_turn')), 'callModel'],
    ['after a refusal', withMessage(stopped('refusal')), 'callModel'],
    ['while a call is open: the call runs first', withMessage(stopped('tool_use', oneRead)), 'run 1.1'],
    ['while a call of a cut answer is open: it is settled first', withMessage(stopped('max_tokens', oneRead)), 'nudge'],
    [
      'once all calls have results',
      withMessage(recordTool(stopped('tool_use', oneRead), toolResult('1.1'))),
      'callModel',
    ],
  ])('a message %s', (_title, conversation, expected) => {
    expect(decided(conversation)).toBe(expected);
  });

  test('all calls have results → the model is asked', () => {
    expect(decided(recordTool(stopped('tool_use', oneRead), toolResult('1.1')))).toBe('callModel');
  });

  test.each([
    ['denied', { verdict: 'deny', reason: 'not allowed' }],
    ['asked for', { verdict: 'ask', reason: 'a change' }],
    ['unknown', { known: false, effect: 'write', reason: 'there is no such tool' }],
  ] as const)(
    'a call that is %s has its result at once → the other one runs, then the model is asked',
    (_title, plan) => {
      const conversation = stopped('tool_use', { calls: [plan, {}] });

      expect(decided(conversation)).toBe('run 1.2');
      expect(decided(recordTool(conversation, toolResult('1.2')))).toBe('callModel');
    },
  );

  test('an ask is open → nothing is asked of the model, not even with a message', () => {
    const answered = stopped('tool_use', oneRead);
    const open = { ...answered, calls: answered.calls.map((call) => ({ ...call, ask: 'open' as const })) };

    expect(decided(open)).toBe('waitForMessage');
    expect(decided(withMessage(open))).toBe('waitForMessage');
  });

  test('a chat → waits for the next message where a task ends', () => {
    expect(decided(stopped('end_turn'), chat)).toBe('waitForMessage');
    expect(decided(withMessage(stopped('end_turn')), chat)).toBe('callModel');
  });
});

describe('limits are judged before each model call', () => {
  const tight = { ...task, limits: { ...task.limits, maxTurns: 1 } };

  test('the turn limit is reached → calls of the last answer still run, then the run ends', () => {
    const conversation = stopped('tool_use', oneRead);

    expect(decided(conversation, tight)).toBe('run 1.1');
    expect(decided(recordTool(conversation, toolResult('1.1')), tight)).toBe('end max_turns');
  });

  test('the last allowed answer ends the task → done', () => {
    expect(decided(stopped('end_turn'), tight)).toBe('end done');
  });

  test('a message cannot outrun the turn limit', () => {
    expect(decided(withMessage(stopped('end_turn')), tight)).toBe('end max_turns');
  });

  test('no turns at all → the model is never asked', () => {
    expect(decided(preparedConversation(), { ...task, limits: { ...task.limits, maxTurns: 0 } })).toBe('end max_turns');
  });
});

describe('nudges', () => {
  /** Answers `turns` times in the same way; each nudge is carried out as the loop does. */
  function repeat(turns: number, reply: (turn: number) => CallModelResult): string[] {
    let conversation = preparedConversation();
    const steps: string[] = [];
    for (let turn = 1; turn <= turns; turn += 1) {
      conversation = recordModel(conversation, reply(turn));
      const next = decideNext(conversation, task, NOW);
      steps.push(next.do === 'end' ? `end ${next.error?.class ?? 'done'}` : next.do);
      if (next.do !== 'nudge') return steps;
      conversation = recordNudge(conversation, next);
      expect(decided(conversation)).toBe('callModel');
    }
    return steps;
  }

  const cut = { stopReason: 'max_tokens' };

  test.each([
    ['blank', (turn: number) => answer(turn, { text: null })],
    ['cut', (turn: number) => answer(turn, { result: cut })],
    // A cut call was never run: asking for it again and again is no progress either.
    ['cut within a call', (turn: number) => answer(turn, { calls: [{}], result: cut })],
  ])('an answer that is %s four times in a row → three nudges, then no_progress', (_title, reply) => {
    expect(repeat(9, reply)).toEqual(['nudge', 'nudge', 'nudge', 'end no_progress']);
  });

  test('cut and blank answers in turn → they count together', () => {
    const reply = (turn: number) => answer(turn, turn % 2 === 0 ? { text: null } : { result: cut });

    expect(repeat(9, reply)).toEqual(['nudge', 'nudge', 'nudge', 'end no_progress']);
  });

  test('a usable answer in between → the count begins anew', () => {
    let conversation = preparedConversation();
    for (let turn = 1; turn <= 12; turn += 1) {
      const usable = turn % 4 === 0;
      conversation = recordModel(conversation, answer(turn, usable ? { calls: [{}] } : { text: null }));
      expect(decided(conversation)).toBe(usable ? `run ${String(turn)}.1` : 'nudge');
      conversation = usable
        ? recordTool(conversation, toolResult(`${String(turn)}.1`))
        : recordNudge(conversation, { kind: 'cut', results: '', note: 'go on' });
    }
  });

  test('the sentence of no_progress says what was wrong, and how often', () => {
    const conversation = { ...stopped('max_tokens'), nudges: 3 };

    expect(decideNext(conversation, task, NOW)).toEqual({
      do: 'end',
      error: { class: 'no_progress', message: "the model's answer was cut 4 times in a row", retryable: false },
    });
  });
});

describe('the model ends the task after a denial', () => {
  const denied = { name: 'bash', summary: 'git push', verdict: 'deny', reason: 'no network' } as const;

  function ended(conversation: Conversation): string {
    return decided(recordModel(conversation, answer(conversation.turn + 1)));
  }

  test('no call succeeded since → denied, and the error names the call and the reason', () => {
    const conversation = recordModel(stopped('tool_use', { calls: [denied] }), answer(2));

    expect(decideNext(conversation, task, NOW)).toEqual({
      do: 'end',
      error: { class: 'permission_needed', message: 'bash git push was denied: no network', retryable: false },
    });
  });

  test('a later call succeeded → done', () => {
    const later = recordModel(stopped('tool_use', { calls: [denied] }), answer(2, oneRead));

    expect(ended(recordTool(later, toolResult('2.1')))).toBe('end done');
  });

  test('a later call failed → denied', () => {
    const later = recordModel(stopped('tool_use', { calls: [denied] }), answer(2, oneRead));

    expect(ended(recordTool(later, toolResult('2.1', { status: 'failed' })))).toBe('end permission_needed');
  });

  test('a call before the denied one succeeded, its result came after → denied', () => {
    const conversation = stopped('tool_use', { calls: [{}, denied] });

    expect(ended(recordTool(conversation, toolResult('1.1')))).toBe('end permission_needed');
  });

  test('a call behind the denied one succeeded → done', () => {
    const conversation = stopped('tool_use', { calls: [denied, {}] });

    expect(ended(recordTool(conversation, toolResult('1.2')))).toBe('end done');
  });

  test('the tenth call is behind the ninth → done', () => {
    const calls = Array.from({ length: 10 }, (_, index) => (index === 8 ? denied : {}));

    expect(ended(recordTool(stopped('tool_use', { calls }), toolResult('1.10')))).toBe('end done');
  });

  test('an unknown tool is not a denial → done', () => {
    expect(ended(stopped('tool_use', { calls: [{ known: false, reason: 'there is no tool named x' }] }))).toBe(
      'end done',
    );
  });
});

describe('an answer with a schema', () => {
  const structured = runInput({ outputSchema: { type: 'object' } });
  const submit = (
    status: 'success' | 'failed',
    conversation = answeredConversation({ calls: [{ name: 'submit_result' }] }),
  ) => recordTool(conversation, toolResult('1.1', { tool: 'submit_result', status }));

  test('accepted → the run is done, with the input as its answer', () => {
    const conversation = submit('success');

    expect(decided(conversation, structured)).toBe('end done');
    expect(conversation.structured).toEqual({ value: { n: 1 } });
  });

  test('not accepted → the model is asked again, five times at most', () => {
    const refused = submit('failed');

    expect(decided(refused, structured)).toBe('callModel');
    expect(decided({ ...refused, outputTries: 5 }, structured)).toBe('end output_invalid');
  });

  test('missing → told to call the tool, which counts as a try, also when it happens again and again', () => {
    let conversation = stopped('end_turn');
    for (let tries = 1; tries <= 5; tries += 1) {
      const next = decideNext(conversation, structured, NOW);
      if (next.do !== 'nudge') throw new Error(`told ${tries - 1} times only`);
      expect(next.note).toContain('submit_result');
      conversation = recordNudge(conversation, next);
      if (tries < 5) conversation = recordModel(conversation, answer(tries + 1));
    }
    expect(decided(conversation, structured)).toBe('end output_invalid');
  });

  test('the run needed something that was denied → denied, not asked for an answer', () => {
    const denied = answeredConversation({ calls: [{ verdict: 'deny', reason: 'no' }] });
    const said = recordModel(denied, answer(2));

    expect(decided(said, structured)).toBe('end permission_needed');
  });
});

describe('the same call again and again', () => {
  function repeated(times: number): Conversation {
    let conversation = preparedConversation();
    for (let turn = 1; turn <= times; turn += 1) {
      conversation = recordModel(conversation, answer(turn, { calls: [{}] }));
      conversation = recordTool(conversation, toolResult(`${turn}.1`, { message: 'same' }));
    }
    return conversation;
  }

  test.each([
    [2, 'callModel'],
    [3, 'nudge'],
    [4, 'callModel'],
    [5, 'end no_progress'],
  ])('%s times → %s', (times, expected) => {
    expect(decided(repeated(times))).toBe(expected);
  });

  test('a run that began under older rules → goes on', () => {
    expect(decideNext(repeated(5), task, NOW, 1)).toEqual({ do: 'callModel' });
  });
});

test('a window that is nearly full → a summary first; under older rules the model is asked', () => {
  const conversation = { ...answeredConversation({ calls: [{}] }), contextTokens: 190_000 };
  const two = recordModel(
    recordTool(conversation, toolResult('1.1')),
    answer(2, { calls: [{}], result: { usage: { input: 190_000, output: 0, cacheRead: 0, cacheWrite: 0 } } }),
  );
  const full = recordTool(two, toolResult('2.1', { message: 'other' }));

  expect(decideNext(full, task, NOW)).toEqual({ do: 'compact', keepFrom: 'm2' });
  expect(decideNext(full, task, NOW, 1)).toEqual({ do: 'callModel' });
  expect(decided({ ...full, compactions: { count: 2, inARow: 2 } })).toBe('end context_window');
});

test('an answer cut inside a call → more room is promised once, then told to split', () => {
  const cut = stopped('max_tokens', { calls: [{}] });
  const first = decideNext(cut, task, NOW);

  expect(first).toMatchObject({ do: 'nudge', kind: 'cutInCall' });
  expect(decideNext({ ...cut, nudges: 1 }, task, NOW)).toMatchObject({ do: 'nudge', kind: 'cut' });
});

test('a chat that was stopped → ends once it is at rest', () => {
  expect(decided({ ...stopped('end_turn'), stopped: true }, chat)).toBe('end done');
});
