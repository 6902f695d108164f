import type { HistoryEvent } from '../../src/temporal/history';
import { eventBytes, historyPages } from '../../src/temporal/history';
import { runInput } from '../support/run-input';
import { readingScript } from '../support/scripts';
import { success, testToolbox, type TestTool } from '../support/test-toolbox';
import { startTestWorker, type TestWorker } from '../support/test-worker';

/** `npm run test:long` makes a thousand turns of it. */
const LONG = process.env['SUREHAND_LONG'] !== undefined;
const { TURNS, PER_RUN, CONTEXT } = LONG
  ? { TURNS: 1_000, PER_RUN: 200, CONTEXT: 100_000 }
  : { TURNS: 40, PER_RUN: 15, CONTEXT: 20_000 };
const RESULT_BYTES = 2_048; // two a turn: 4 KB of results

let worker: TestWorker | undefined;

afterEach(async () => {
  await worker?.stop();
});

async function eventsOf({ temporal }: TestWorker, workflowId: string): Promise<HistoryEvent[]> {
  const all: HistoryEvent[] = [];
  for await (const { events } of historyPages(temporal.client, { workflowId })) all.push(...events);
  return all;
}

/** When each turn's model call was scheduled, in milliseconds. */
function startsOf(events: readonly HistoryEvent[]): number[] {
  return events
    .filter((event) => event.activityTaskScheduledEventAttributes?.activityId?.startsWith('model-') === true)
    .map(({ eventTime }) => Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6);
}

test(`${TURNS} turns with summaries, in runs of ${PER_RUN} → flat cost per turn, one coherent transcript`, async () => {
  const read: TestTool = ({ call }) => success(`${call} `.padEnd(RESULT_BYTES, 'x'));
  worker = await startTestWorker({ toolbox: testToolbox({ read }) });
  const summaries = Array.from({ length: 200 }, (_, index) => `Summary ${index + 1}.`);
  const model = readingScript(TURNS, (turn, n) => `file ${turn}.${n}`, summaries);
  const input = runInput({ model });
  const limits = { ...input.limits, maxTurns: TURNS, turnsPerRun: PER_RUN, contextTokens: CONTEXT };

  const handle = await worker.start({ ...input, limits });
  const result = await handle.result();

  expect(result).toMatchObject({ outcome: 'done', turns: TURNS, text: 'The end.' });
  const view = await worker.view(handle.workflowId);
  expect(view.turns.map(({ turn }) => turn)).toEqual(Array.from({ length: TURNS }, (_, index) => index + 1));
  const steps = view.turns.flatMap((turn) => turn.steps);
  expect(steps.map(({ call }) => call)).toEqual(
    Array.from({ length: TURNS - 1 }, (_, index) => [`${index + 1}.1`, `${index + 1}.2`]).flat(),
  );
  expect(new Set(steps.map(({ status }) => status))).toEqual(new Set(['success']));
  expect(view.messages).toHaveLength(2 * TURNS);
  const events = await eventsOf(worker, handle.workflowId);
  const summarized = events.filter((event) =>
    event.activityTaskScheduledEventAttributes?.activityId?.startsWith('summary-'),
  );
  expect(summarized.length).toBeGreaterThanOrEqual(2);
  // With two parallel tools a turn, the start of each run and the summaries included.
  expect(events.length / TURNS).toBeLessThan(21);
  const bytes = events.reduce((sum, event) => sum + eventBytes(event), 0);
  const script = JSON.stringify(model).length * Math.ceil(TURNS / PER_RUN);
  const content = JSON.stringify(view.messages).length;
  if (process.env['SUREHAND_PRINT'] !== undefined) {
    const starts = startsOf(events);
    const perTurn = (from: number, to: number): number => ((starts[to] ?? 0) - (starts[from] ?? 0)) / (to - from);
    const times = { first: perTurn(0, 20), last: perTurn(TURNS - 21, TURNS - 1) };
    const figures = { events: events.length / TURNS, bytes, script, content, summaries: summarized.length, times };
    process.stderr.write(`${JSON.stringify(figures)}\n`);
  }
  // Each run is handed the window, so the sum of all histories is more than the content, but grows as it does.
  expect((bytes - script) / content).toBeLessThan(4);
}, 600_000);
