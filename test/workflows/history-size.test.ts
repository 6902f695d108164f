import type { WorkflowHandle } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { eventBytes, historyPages } from '../../src/temporal/history';
import { runInput } from '../support/run-input';
import { readingScript } from '../support/scripts';
import { success, testToolbox, type TestTool } from '../support/test-toolbox';
import { startTestWorker, type TestWorker } from '../support/test-worker';

const RESULT_BYTES = 2048; // two a turn: 4 KB of results

let worker: TestWorker | undefined;

afterEach(async () => {
  await worker?.stop();
});

async function replayMs(handle: WorkflowHandle): Promise<number> {
  const history = await handle.fetchHistory();
  const workflowBundle = { codePath: process.env['SUREHAND_TEST_BUNDLE'] ?? '' };
  const startedAt = performance.now();
  await Worker.runReplayHistory({ workflowBundle }, history);
  return performance.now() - startedAt;
}

/** The long form fills the model's window. */
const SUMMARIES = Array.from({ length: 10 }, (_, index) => `Summary ${String(index + 1)}.`);

/** `npm run test:long` plays 200 turns, and prints the figures with SUREHAND_PRINT. */
const TURNS = process.env['SUREHAND_LONG'] === undefined ? 50 : 200;

test.each([
  [TURNS, 'switched on', 64 * 1024 * 1024],
  // Each turn reads the history of all turns before.
  [20, 'switched off', 0],
])(
  '%s turns with 4 KB of results each, cache %s → linear history, small model-call inputs',
  async (turns, _, cacheBytes) => {
    const read: TestTool = ({ call }) => success(`${call} `.padEnd(RESULT_BYTES, 'x'));
    worker = await startTestWorker({ cacheBytes, toolbox: testToolbox({ read }) });
    const model = readingScript(turns, (turn, n) => `file ${String(turn)}.${String(n)}`, SUMMARIES);

    const handle = await worker.start(runInput({ model }));
    const result = await handle.result();

    expect(result).toMatchObject({ outcome: 'done', turns, text: 'The end.' });
    const sizes = { history: 0, largestModelInput: 0, events: 0 };
    const starts: number[] = [];
    const startIds: number[] = [];
    for await (const { events } of historyPages(worker.temporal.client, { workflowId: handle.workflowId })) {
      for (const event of events) {
        sizes.history += eventBytes(event);
        sizes.events += 1;
        const scheduled = event.activityTaskScheduledEventAttributes;
        if (scheduled?.activityType?.name !== 'callModel') continue;
        startIds.push(Number(event.eventId));
        starts.push(Number(event.eventTime?.seconds ?? 0) * 1_000 + (event.eventTime?.nanos ?? 0) / 1e6);
        const input = temporal.api.common.v1.Payloads.encode(scheduled.input ?? {}).finish().length;
        sizes.largestModelInput = Math.max(sizes.largestModelInput, input);
      }
    }
    const { messages } = await worker.view(handle.workflowId);
    const content = JSON.stringify(messages).length;
    expect(sizes.history / content).toBeLessThan(2);
    // A turn is a model call, two parallel tools, and what Temporal notes around them. What a run has once - its
    // start, its preparation, its markers, its end - is no part of a turn.
    const eventsPerTurn = ((startIds.at(-1) ?? 0) - (startIds[0] ?? 0)) / (startIds.length - 1);
    expect(startIds).toHaveLength(turns);
    expect(eventsPerTurn).toBeLessThanOrEqual(19);
    expect(sizes.events - eventsPerTurn * turns).toBeLessThan(20);
    expect(sizes.largestModelInput).toBeLessThan(2048);
    if (process.env['SUREHAND_PRINT'] !== undefined) {
      const perTurn = (from: number, to: number): number => ((starts[to] ?? 0) - (starts[from] ?? 0)) / (to - from);
      const times = { first: perTurn(0, 20), last: perTurn(turns - 21, turns - 1), replay: await replayMs(handle) };
      const figures = { turns, ...sizes, eventsPerTurn, content, ratio: sizes.history / content, ...times };
      process.stderr.write(`${JSON.stringify(figures)}\n`);
    }
  },
  120_000,
);
