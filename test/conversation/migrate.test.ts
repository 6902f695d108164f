import { readFileSync } from 'node:fs';
import path from 'node:path';
import { openConversation, type Conversation } from '../../src/conversation/conversation';
import { migrate } from '../../src/conversation/migrate';
import { messagesForModel } from '../../src/conversation/record';
import { runInput } from '../support/run-input';

/** The value as a run of the first released build had it, in the middle of a turn with a message in its queue. */
function recorded(version: number): unknown {
  return JSON.parse(readFileSync(path.join(__dirname, 'fixtures', `conversation-v${version}.json`), 'utf8'));
}

test('the value of version 1 → version 2, nothing lost, the workspace held', () => {
  const before = recorded(1) as Conversation;

  const after = migrate(before);

  expect(after).toEqual({
    ...before,
    v: 2,
    holdsWorkspace: true,
    stopped: false,
    windowBytes: 677,
    contextTokens: 0,
    overflow: false,
    triesBefore: 0,
    compactions: { count: 0, inARow: 0 },
    said: [],
    todos: [],
    structured: null,
    outputTries: 0,
  });
  expect(after.queue.map(({ id }) => id)).toEqual(['m1']);
  expect(JSON.stringify(messagesForModel(after))).toContain('there is no tool named denyIt');
});

test('a value of version 1 from before its workspace was prepared → the workspace is not held', () => {
  expect(migrate({ ...(recorded(1) as Conversation), facts: null })).toMatchObject({ v: 2, holdsWorkspace: false });
});

test('the value of today → the same value', () => {
  const conversation = openConversation({ input: runInput(), runId: 'run-1', now: 0 });

  expect(migrate(conversation)).toEqual(conversation);
});

test.each([3, 0])('a value of version %s → refused, never read as something else', (v) => {
  expect(() => migrate({ ...(recorded(1) as Conversation), v })).toThrow(
    `this build cannot read a conversation of version ${v}`,
  );
});
