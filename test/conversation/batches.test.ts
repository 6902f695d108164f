import fc from 'fast-check';
import { nextBatch } from '../../src/conversation/batches';
import type { CallState } from '../../src/conversation/conversation';
import { plannedCall } from '../support/conversation-parts';

type Kind = 'read' | 'write' | 'settled' | 'open';

function callsOf(kinds: readonly Kind[]): CallState[] {
  return kinds.map((kind, index) => {
    const plan = plannedCall(1, index + 1, { effect: kind === 'write' ? 'write' : 'read' });
    const call = `1.${String(index + 1)}`;
    const settled = {
      ref: { inline: { call, text: 'x' } },
      block: { type: 'tool_result', tool_use_id: plan.blockId, content: 'x' },
    } as const;
    return {
      call,
      plan,
      input: {},
      ask: kind === 'open' ? 'open' : 'none',
      ...(kind === 'settled' ? { settled } : {}),
    };
  });
}

function namesOf(calls: readonly CallState[]): string[] {
  return calls.map(({ call }) => call);
}

test.each([
  ['no calls', [], []],
  ['reads side by side run together', ['read', 'read'], ['1.1', '1.2']],
  ['a change runs alone', ['write', 'read'], ['1.1']],
  ['a change waits for the reads before it', ['read', 'write', 'read'], ['1.1']],
  ['a call with a result is passed over', ['settled', 'write'], ['1.2']],
  ['reads on both sides of a call with a result run together', ['read', 'settled', 'read'], ['1.1', '1.3']],
  ['an open ask holds back everything behind it', ['read', 'open', 'read'], ['1.1']],
  ['an open ask at the head holds back everything', ['open', 'read'], []],
  ['all have results', ['settled', 'settled'], []],
] as const)('%s', (_title, kinds, expected) => {
  expect(namesOf(nextBatch(callsOf(kinds)))).toEqual(expected);
});

test('more than eight reads → eight at a time', () => {
  const calls = callsOf(Array.from({ length: 9 }, () => 'read'));

  expect(namesOf(nextBatch(calls))).toEqual(['1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7', '1.8']);
});

test('whatever the calls: batch after batch gives all of them in order, and a change is never beside another call', () => {
  const kinds = fc.array(fc.constantFrom<Kind[]>('read', 'write', 'settled'), { maxLength: 40 });
  fc.assert(
    fc.property(kinds, (given) => {
      let calls = callsOf(given);
      const expected = namesOf(calls.filter(({ settled }) => settled === undefined));
      const order: string[] = [];
      for (let batch = nextBatch(calls); batch.length > 0; batch = nextBatch(calls)) {
        const names = namesOf(batch);
        order.push(...names);
        expect(batch.length === 1 || batch.every(({ plan }) => plan.effect === 'read')).toBe(true);
        expect(batch.length).toBeLessThanOrEqual(8);
        calls = calls.filter(({ call }) => !names.includes(call));
      }
      expect(order).toEqual(expected);
    }),
  );
});
