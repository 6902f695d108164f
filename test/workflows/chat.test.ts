import { randomUUID } from 'node:crypto';
import { INBOX_SIGNAL, SEND_UPDATE, STATUS_QUERY } from '../../src/contract/names';
import type { Envelope, EnvelopeKind } from '../../src/contract/envelope';
import type { RunStatus } from '../../src/contract/status';
import { historyPages } from '../../src/temporal/history';
import { keepFixture } from '../support/replay-fixtures';
import { runInput } from '../support/run-input';
import { scripted } from '../support/scripts';
import { startTestWorker, type TestWorker } from '../support/test-worker';
import { waitFor } from '../support/wait-for';

let worker: TestWorker;

beforeAll(async () => {
  worker = await startTestWorker();
});

afterAll(() => worker.stop());

const MODEL = scripted([
  { text: 'Hello.' },
  { calls: [{ name: 'write', input: { text: 'w' } }] },
  { text: 'Written.' },
  { text: 'Bye.' },
]);

let count = 0;
function envelope(kind: EnvelopeKind, text?: string): Envelope {
  count += 1;
  return { id: `e${count}`, at: count, kind, body: text === undefined ? {} : { text }, by: 'test' };
}

/** Activity ids of the whole chain, in the order of scheduling. */
async function stepsOf(workflowId: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { events } of historyPages(worker.temporal.client, { workflowId })) {
    ids.push(...events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityId ?? []));
  }
  return ids;
}

/** A chat that goes on in a new run after each turn, or never. */
async function startChat(turnsPerRun?: number) {
  const workflowId = `chat-${randomUUID()}`;
  const input = runInput({ kind: 'chat', task: 'Hi.', model: MODEL });
  const limits = turnsPerRun === undefined ? input.limits : { ...input.limits, turnsPerRun };
  const started = await worker.start({ ...input, limits }, workflowId);
  const current = worker.temporal.client.workflow.getHandle(workflowId);
  const settled = async (turn: number): Promise<void> => {
    await waitFor(`the chat waits after turn ${turn}`, async () => {
      const status = await current.query<RunStatus>(STATUS_QUERY);
      return status.state === 'waiting-for-message' && status.turn === turn;
    });
  };
  const send = async (next: Envelope): Promise<void> => {
    await current.executeUpdate(SEND_UPDATE, { args: [next], updateId: next.id });
  };
  return { workflowId, started, current, settled, send };
}

test.each([
  ['in one run', undefined],
  ['over several runs', 1],
])(
  'a chat %s → waits after each answer, gives back the workspace meanwhile, goes on with the next message',
  async (_, turnsPerRun) => {
    const { workflowId, started, settled, send } = await startChat(turnsPerRun);

    await settled(1);
    expect((await worker.view(workflowId)).atRest).toBe(true);
    await send(envelope('message', 'Write.'));
    await settled(3);
    await send(envelope('message', 'Thanks.'));
    await settled(4);
    await send(envelope('stop'));
    const result = await started.result();

    expect(result).toMatchObject({ outcome: 'done', text: 'Bye.', turns: 4 });
    const view = await worker.view(workflowId);
    expect(view).toMatchObject({ closed: true, atRest: false });
    expect(view.turns.map(({ text, said }) => [...said.map((one) => one.text), text])).toEqual([
      ['Hello.'],
      ['Write.', ''],
      ['Written.'],
      ['Thanks.', 'Bye.'],
    ]);
    const steps = await stepsOf(workflowId);
    // The second answer came after a change, so the workspace was held again; the third changed nothing.
    expect(steps.filter((id) => /^(prepare|leave|finish|tool)/.test(id))).toEqual([
      'prepare',
      'leave-1',
      'tool-2.1',
      'leave-3',
      'finish',
    ]);
    if (turnsPerRun === undefined) await keepFixture(worker.temporal, workflowId, 'chat');
  },
);

test('a message by signal while it waits → taken in; a stop by signal → it ends', async () => {
  const { started, current, settled } = await startChat();
  await settled(1);

  await current.signal(INBOX_SIGNAL, envelope('message', 'Write.'));
  await settled(3);
  await current.signal(INBOX_SIGNAL, envelope('stop'));

  expect(await started.result()).toMatchObject({ outcome: 'done', turns: 3 });
});

test('after a stop no further message is taken, and what was sent before it is still answered', async () => {
  const { workflowId, started, settled, send, current } = await startChat();
  await settled(1);

  const before = envelope('message', 'Write.');
  await current.signal(INBOX_SIGNAL, before);
  await send(envelope('stop'));
  await expect(send(envelope('message', 'late'))).rejects.toThrow();

  expect(await started.result()).toMatchObject({ outcome: 'done', text: 'Written.', turns: 3 });
  expect((await worker.view(workflowId)).turns.flatMap(({ said }) => said.map(({ text }) => text))).toEqual(['Write.']);
});

test('a waiting chat is cancelled → cancelled, with its transcript', async () => {
  const { workflowId, started, settled } = await startChat();
  await settled(1);

  await started.cancel();

  await expect(started.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  expect((await worker.view(workflowId)).result).toMatchObject({ outcome: 'cancelled', text: 'Hello.' });
});
