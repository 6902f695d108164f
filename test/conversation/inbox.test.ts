import fc from 'fast-check';
import type { Envelope } from '../../src/contract/envelope';
import type { Conversation } from '../../src/conversation/conversation';
import { drain, isStopped, receive, refusalOf } from '../../src/conversation/inbox';
import { envelope, preparedConversation } from '../support/conversation-parts';

function receiveAll(envelopes: readonly Envelope[], start: Conversation = preparedConversation()): Conversation {
  return envelopes.reduce((conversation, one) => receive(conversation, one).conversation, start);
}

describe('receive', () => {
  test('a new input → queued, the answer says its place', () => {
    const first = receive(preparedConversation(), envelope('a'));
    const second = receive(first.conversation, envelope('b'));

    expect(first.answer).toEqual({ id: 'a', status: 'queued', place: 1, detail: 'taken in at the next turn' });
    expect(second.answer).toMatchObject({ id: 'b', status: 'queued', place: 2 });
    expect(second.conversation.queue.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('the same id again → a duplicate with the first answer, also after it was taken in', () => {
    const taken = drain(receiveAll([envelope('a')])).conversation;

    const again = receive(taken, envelope('a'));

    expect(again.answer).toEqual({ id: 'a', status: 'duplicate', place: 1, detail: 'taken in at the next turn' });
    expect(again.conversation).toBe(taken);
  });

  test('more than 500 inputs → the last 500 are known', () => {
    const ids = Array.from({ length: 501 }, (_, index) => `m${String(index)}`);
    const conversation = receiveAll(ids.map((id) => envelope(id)));

    expect(conversation.seen).toHaveLength(500);
    expect(receive(conversation, envelope('m0')).answer.status).toBe('queued');
    expect(receive(conversation, envelope('m1')).answer.status).toBe('duplicate');
  });
});

describe('drain', () => {
  test('an empty queue → nothing, and the same conversation', () => {
    const conversation = preparedConversation();

    expect(drain(conversation)).toEqual({ conversation, envelopes: [] });
    expect(drain(conversation).conversation).toBe(conversation);
  });

  test('sorted by time, then by id', () => {
    const conversation = receiveAll([
      envelope('c', { at: 2 }),
      envelope('b', { at: 2 }),
      envelope('z', { at: 1 }),
      envelope('a', { at: 3 }),
    ]);

    const drained = drain(conversation);

    expect(drained.envelopes.map(({ id }) => id)).toEqual(['z', 'b', 'c', 'a']);
    expect(drained.conversation.queue).toEqual([]);
    expect(conversation.queue).toHaveLength(4);
  });

  test('whatever the order of arrival, and however often each arrives: the same order', () => {
    const inputs = fc.uniqueArray(fc.record({ id: fc.string({ minLength: 1, maxLength: 3 }), at: fc.nat(3) }), {
      selector: ({ id }) => id,
      maxLength: 10,
    });
    fc.assert(
      fc.property(
        inputs.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 })),
        ),
        ([inOrder, arrivals]) => {
          const orderOf = (all: typeof inOrder) =>
            drain(receiveAll(all.map(({ id, at }) => envelope(id, { at })))).envelopes.map(({ id }) => id);
          expect(orderOf(arrivals)).toEqual(orderOf(inOrder));
          expect(orderOf(arrivals)).toHaveLength(inOrder.length);
        },
      ),
    );
  });
});

describe('refusalOf', () => {
  const bytes = (count: number) => ({ text: 'x'.repeat(count) });

  test.each([
    ['a message', envelope('a'), undefined],
    ['an id of 100 characters', envelope('i'.repeat(100)), undefined],
    ['a text of 128 KB', envelope('a', { body: bytes(131_072) }), undefined],
    ['nothing', undefined, 'an envelope is an object'],
    ['null', null, 'an envelope is an object'],
    ['a text', 'hello', 'an envelope is an object'],
    ['no id', { ...envelope('a'), id: undefined }, 'an envelope needs an id of 1 to 100 characters'],
    ['an empty id', envelope(''), 'an envelope needs an id of 1 to 100 characters'],
    ['an id of 101 characters', envelope('i'.repeat(101)), 'an envelope needs an id of 1 to 100 characters'],
    ['a time that is no number', { ...envelope('a'), at: '1' }, 'an envelope needs a time in milliseconds'],
    ['a time that is not finite', envelope('a', { at: Number.NaN }), 'an envelope needs a time in milliseconds'],
    ['no sender', { ...envelope('a'), by: undefined }, 'an envelope says who sent it'],
    ['a sender of 201 characters', envelope('a', { by: 'b'.repeat(201) }), 'an envelope says who sent it'],
    ['no kind', { ...envelope('a'), kind: undefined }, 'an envelope names its kind'],
    ['a kind that cannot become a text', { ...envelope('a'), kind: { toString: 1 } }, 'an envelope names its kind'],
    ['a kind for later', envelope('a', { kind: 'approve' }), 'a task does not take input of kind approve'],
    ['a stop', envelope('a', { kind: 'stop' }), 'a task does not take input of kind stop'],
    ['no body', { ...envelope('a'), body: null }, 'the message is empty'],
    ['no text', envelope('a', { body: {} }), 'the message is empty'],
    ['a text that is none', { ...envelope('a'), body: { text: 7 } }, 'the message is empty'],
    ['blanks alone', envelope('a', { body: { text: ' \n\t' } }), 'the message is empty'],
    [
      'a text of 128 KB and a byte',
      envelope('a', { body: bytes(131_073) }),
      'the message has 131073 bytes; at most 131072 are taken. Put it into a file of the workspace',
    ],
    [
      'fewer characters, but too many bytes',
      envelope('a', { body: { text: 'é'.repeat(65_537) } }),
      'the message has 131074 bytes; at most 131072 are taken. Put it into a file of the workspace',
    ],
  ])('%s', (_title, value, expected) => {
    expect(refusalOf(value, 'task')).toBe(expected);
  });

  test('whatever comes from outside → never throws, and the reason is short', () => {
    const field = fc.jsonValue();
    const record = fc.record({ id: field, at: field, kind: field, body: field, by: field }, { requiredKeys: [] });
    const nearlyGood = fc
      .tuple(record, fc.subarray(['id', 'at', 'kind', 'body', 'by'] as const))
      .map(([junk, good]) => ({
        ...junk,
        ...Object.fromEntries(good.map((key) => [key, envelope('a')[key]])),
      }));
    fc.assert(
      fc.property(fc.oneof(field, nearlyGood), (value) => {
        expect((refusalOf(value, 'task') ?? '').length).toBeLessThan(300);
      }),
    );
    expect((refusalOf({ ...envelope('a'), kind: 'k'.repeat(3_000_000) }, 'task') ?? '').length).toBeLessThan(300);
  });

  test('a chat can be stopped, which needs no text; a task ends by itself', () => {
    expect(refusalOf(envelope('a', { kind: 'stop', body: {} }), 'chat')).toBeUndefined();
    expect(refusalOf(envelope('a', { body: {} }), 'chat')).toBe('the message is empty');
  });
});

test('a stop that came → nothing more is taken in, already while it waits in the queue', () => {
  const conversation = preparedConversation();

  expect(isStopped(conversation)).toBe(false);
  expect(isStopped({ ...conversation, queue: [envelope('a'), envelope('s', { kind: 'stop' })] })).toBe(true);
  expect(isStopped({ ...conversation, stopped: true })).toBe(true);
});
