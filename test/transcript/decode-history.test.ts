import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { createHistoryDecoder, type HistoryEvent } from '../../src/transcript/decode-history';
import type { RunFacts } from '../../src/transcript/facts';
import { answeredConversation, envelope } from '../support/conversation-parts';
import { createHistory, DELIVERIES, type SyntheticHistory } from '../support/history-events';
import { runInput } from '../support/run-input';

const input = runInput();

async function factsOf(events: readonly HistoryEvent[]): Promise<RunFacts> {
  const decoder = createHistoryDecoder('run-2', { codecs: [] });
  await decoder.push(events);
  const facts = decoder.facts();
  if (facts === undefined) throw new Error('no facts');
  return facts;
}

describe('the start', () => {
  test('no event yet, or events without their beginning → nothing is known', async () => {
    const history = createHistory({ input });
    history.signalled(envelope('a'));
    const decoder = createHistoryDecoder('run-2', { codecs: [] });
    expect(decoder.facts()).toBeUndefined();

    await decoder.push(history.events.slice(1));

    expect(decoder.facts()).toBeUndefined();
  });

  test('a first run → its input, its memo, and itself as the first of the chain', async () => {
    const facts = await factsOf(createHistory({ input }).events);

    expect(facts).toMatchObject({ runId: 'run-2', firstRunId: 'run-2', startedAt: 1_500, input, events: 1, bytes: 0 });
    expect(facts.memo).toEqual({ surehandInput: 'digest' });
    expect(facts.carried).toBeUndefined();
  });

  test('a run that was handed a conversation → that, its queue, and the first run of the chain', async () => {
    const carried = { ...answeredConversation(), queue: [envelope('a')] };

    const facts = await factsOf(createHistory({ input, carried, firstRunId: 'run-1' }).events);

    expect(facts).toMatchObject({ firstRunId: 'run-1', carried });
    expect([...facts.envelopes.keys()]).toEqual(['a']);
  });

  test('sizes are counted by the function given, for every event', async () => {
    const history = createHistory({ input });
    history.other();
    const decoder = createHistoryDecoder('run-2', { codecs: [], sizeOf: () => 100 });

    await decoder.push(history.events);

    expect(decoder.facts()).toMatchObject({ bytes: 200, events: 2 });
  });
});

describe('activities', () => {
  function scheduled(): SyntheticHistory {
    const history = createHistory({ input });
    history.scheduled('tool-1.1', { call: '1.1' }, '1 · read a.ts');
    return history;
  }

  test('scheduled, started, completed → with the times of each', async () => {
    const history = scheduled();
    history.started('tool-1.1');
    history.completed('tool-1.1', { id: 'r' });

    expect((await factsOf(history.events)).activities.get('tool-1.1')).toEqual({
      activityId: 'tool-1.1',
      summary: '1 · read a.ts',
      scheduledAt: 2_500,
      startedAt: 3_500,
      closedAt: 4_500,
      status: 'completed',
      input: { call: '1.1' },
      result: { id: 'r' },
    });
  });

  test.each([
    ['failed', (history: SyntheticHistory) => history.failed('tool-1.1', 'broken'), 'broken'],
    ['timed_out', (history: SyntheticHistory) => history.timedOut('tool-1.1'), 'timeout'],
    ['cancelled', (history: SyntheticHistory) => history.cancelled('tool-1.1'), undefined],
  ] as const)('%s → no result, and the sentence of the failure if there is one', async (status, end, failure) => {
    const history = scheduled();
    end(history);

    const fact = (await factsOf(history.events)).activities.get('tool-1.1');

    expect(fact).toMatchObject({ status, closedAt: 3_500 });
    expect([fact?.result, fact?.failure]).toEqual([undefined, failure]);
  });

  test('no summary → an empty one', async () => {
    const history = createHistory({ input });
    history.scheduled('finish', {});

    expect((await factsOf(history.events)).activities.get('finish')?.summary).toBe('');
  });

  test('the same id again → replaces the earlier one and takes its new place', async () => {
    const history = createHistory({ input });
    history.scheduled('model-1', { seq: 1 });
    history.scheduled('tool-0.1', {});
    history.timedOut('model-1');
    history.scheduled('model-1', { seq: 2 });

    const { activities } = await factsOf(history.events);

    expect([...activities.keys()]).toEqual(['tool-0.1', 'model-1']);
    expect(activities.get('model-1')).toMatchObject({ status: 'scheduled', input: { seq: 2 } });
    expect(activities.get('model-1')?.failure).toBeUndefined();
  });
});

test('events that leave out what they may, or end an activity that is not known → nothing is made up', async () => {
  const history = createHistory({ input });
  history.scheduled('tool-1.1', {});
  const { scheduledEventId } = history.started('tool-1.1').activityTaskStartedEventAttributes ?? {};
  const bare: HistoryEvent[] = [
    { activityTaskCompletedEventAttributes: {} },
    { activityTaskFailedEventAttributes: { scheduledEventId: scheduledEventId ?? null } },
    { workflowExecutionFailedEventAttributes: {} },
  ];

  const facts = await factsOf([...history.events, ...bare]);

  expect([...facts.activities.values()]).toMatchObject([{ status: 'failed', failure: '', closedAt: 0 }]);
  expect(facts.close).toEqual({ status: 'failed', at: 0, failure: { type: '', message: '' } });
});

describe('what people send', () => {
  test.each(DELIVERIES)('%s → known by its id', async (how) => {
    const history = createHistory({ input });
    history[how](envelope('a'));

    expect((await factsOf(history.events)).envelopes).toEqual(new Map([['a', envelope('a')]]));
  });

  test('the same id again → the first one counts', async () => {
    const history = createHistory({ input });
    history.signalled(envelope('a'));
    history.updateAccepted(envelope('a', { body: { text: 'other' } }));

    expect((await factsOf(history.events)).envelopes.get('a')?.body.text).toBe('message a');
  });

  test('a signal that the run refused, then the same id in good form → the good one', async () => {
    const history = createHistory({ input });
    history.signalled(envelope('a', { body: { text: ' ' } }));
    history.signalled(envelope('a'));

    expect((await factsOf(history.events)).envelopes.get('a')?.body.text).toBe('message a');
  });

  test.each([
    ['a signal of another name', envelope('a'), 'other'],
    ['a signal that holds no envelope', 'hello', 'inbox'],
    ['a signal that holds nothing', null, 'inbox'],
  ])('%s → ignored', async (_title, value, name) => {
    const history = createHistory({ input });
    history.signalled(value, name);

    expect((await factsOf(history.events)).envelopes.size).toBe(0);
  });
});

describe('memo and end', () => {
  test('memo entries are laid over each other', async () => {
    const history = createHistory({ input });
    history.memo({ surehandTail: 1, surehandInput: 'new' });
    history.memo({ surehandUnread: ['a'] });

    expect((await factsOf(history.events)).memo).toEqual({
      surehandInput: 'new',
      surehandTail: 1,
      surehandUnread: ['a'],
    });
  });

  test.each([
    ['completed', (h: SyntheticHistory) => h.runCompleted({ text: 'x' }), { result: { text: 'x' } }],
    [
      'failed',
      (h: SyntheticHistory) => h.runFailed('limit_reached', 'no turns left', { turns: 3 }),
      { failure: { type: 'limit_reached', message: 'no turns left', details: { turns: 3 } } },
    ],
    ['cancelled', (h: SyntheticHistory) => h.runCancelled(), {}],
    ['terminated', (h: SyntheticHistory) => h.runTerminated(), { reason: '' }],
    ['timed_out', (h: SyntheticHistory) => h.runTimedOut(), {}],
    ['continued_as_new', (h: SyntheticHistory) => h.continuedAsNew(), {}],
  ] as const)('%s', async (status, end, more) => {
    const history = createHistory({ input });
    expect((await factsOf(history.events)).close).toBeUndefined();
    end(history);

    expect((await factsOf(history.events)).close).toEqual({ status, at: 2_500, ...more });
  });
});

test('payloads go through the codec chain, the last codec first', async () => {
  const order: string[] = [];
  const flip = ({ data }: Payload): Uint8Array => (data ?? new Uint8Array()).map((byte) => byte ^ 0x55);
  const codec = (name: string, change: (payload: Payload) => Payload): PayloadCodec => ({
    encode: (payloads) => Promise.resolve(payloads),
    decode: (payloads) => {
      order.push(name);
      return Promise.resolve(payloads.map(change));
    },
  });
  const encode = (value: unknown): Payload => {
    const payload = defaultPayloadConverter.toPayload(value);
    return { ...payload, data: flip(payload) };
  };
  const codecs = [codec('first', (payload) => ({ ...payload, data: flip(payload) })), codec('second', (same) => same)];
  const decoder = createHistoryDecoder('run-2', { codecs });

  await decoder.push(createHistory({ input, encode }).events);

  expect(decoder.facts()).toMatchObject({ input, memo: { surehandInput: 'digest' } });
  expect(order).toEqual(['second', 'first', 'second', 'first']);
});
