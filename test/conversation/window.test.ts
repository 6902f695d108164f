import fc from 'fast-check';
import type { Message } from '../../src/contract/message';
import { messagesForModel } from '../../src/conversation/record';
import { runScript, simulateRun } from '../support/simulated-run';

/** What is wrong with a window, in words; the same rules as an endpoint's. */
function faults(messages: readonly Message[]): string[] {
  const found: string[] = [];
  if (messages[0]?.role !== 'user') found.push('does not begin with a user message');
  messages.forEach((message, index) => {
    const next = messages[index + 1];
    if (message.role === 'user') {
      if (next?.role === 'user') found.push(`${String(index)}: two user messages side by side`);
      return;
    }
    const calls = message.content.flatMap((block) =>
      block.type === 'tool_use' ? [block['id' as keyof typeof block]] : [],
    );
    const content = next?.role === 'user' ? next.content : [];
    const answered = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    if (JSON.stringify(answered) !== JSON.stringify(calls)) {
      found.push(`${String(index)}: calls ${calls.join()} are answered by ${answered.join()}`);
    }
    if (content.slice(0, calls.length).some(({ type }) => type !== 'tool_result')) {
      found.push(`${String(index)}: results are not first`);
    }
  });
  return found;
}

test('whatever happens in a run: each model call gets a window in which every call has its result in place', () => {
  const asked = { windows: 0, results: 0 };
  fc.assert(
    fc.property(runScript, (script) => {
      for (const moment of simulateRun(script).moments) {
        if (moment.kind !== 'asked') continue;
        expect(faults(moment.messages)).toEqual([]);
        asked.windows += 1;
        asked.results += moment.messages.filter(({ content }) => content[0]?.type === 'tool_result').length;
      }
    }),
    { numRuns: 300 },
  );
  // The property is about something.
  expect(asked.windows).toBeGreaterThan(300);
  expect(asked.results).toBeGreaterThan(300);
});

test('whatever happens in a run: when it is closed, no call is without a result', () => {
  fc.assert(
    fc.property(runScript, (script) => {
      const last = simulateRun(script).moments.at(-1);
      if (last?.kind !== 'closed') throw new Error('the run never ended');
      if (script.end === 'terminated') return;
      expect(faults(messagesForModel(last.conversation))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
