import { mustContinue } from '../../src/conversation/continuation';
import type { Conversation } from '../../src/conversation/conversation';
import { openConversation } from '../../src/conversation/conversation';
import { runInput } from '../support/run-input';

const input = runInput();
const inFives = { ...input, limits: { ...input.limits, turnsPerRun: 5 } };

function at(turn: number, text = 'short'): Conversation {
  const opened = openConversation({ input, runId: 'run-1', now: 0 });
  return { ...opened, turn, window: [{ role: 'user', content: [{ type: 'text', text }] }] };
}

test.each([
  ['nothing asks for it', at(500), input, { suggested: false, turnsAtStart: 0 }, false],
  ['the server suggests it', at(1), input, { suggested: true, turnsAtStart: 0 }, true],
  ['a turn short of the setting', at(4), inFives, { suggested: false, turnsAtStart: 0 }, false],
  ['as many turns as the setting says', at(5), inFives, { suggested: false, turnsAtStart: 0 }, true],
  ['those turns were in the runs before', at(9), inFives, { suggested: false, turnsAtStart: 5 }, false],
  [
    'a window that no payload could carry',
    at(5, 'x'.repeat(1_900_000)),
    inFives,
    { suggested: true, turnsAtStart: 0 },
    false,
  ],
])('%s → %s', (_, conversation, run, length, expected) => {
  expect(mustContinue(conversation, run, length)).toBe(expected);
});
