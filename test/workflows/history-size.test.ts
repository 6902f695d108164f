import { temporal } from '@temporalio/proto';
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

test.each([
  [80, 'switched on', 64 * 1024 * 1024],
  // Each turn reads the history of all turns before.
  [25, 'switched off', 0],
])(
  '%s turns with 4 KB of results each, cache %s → linear history, small model-call inputs',
  async (turns, _, cacheBytes) => {
    const read: TestTool = ({ call }) => success(`${call} `.padEnd(RESULT_BYTES, 'x'));
    worker = await startTestWorker({ cacheBytes, toolbox: testToolbox({ read }) });
    const model = readingScript(turns, (turn, n) => `file ${String(turn)}.${String(n)}`);

    const handle = await worker.start(runInput({ model }));
    const result = await handle.result();

    expect(result).toMatchObject({ outcome: 'done', turns, text: 'The end.' });
    const sizes = { history: 0, largestModelInput: 0 };
    for await (const { events } of historyPages(worker.temporal.client, { workflowId: handle.workflowId })) {
      for (const event of events) {
        sizes.history += eventBytes(event);
        const scheduled = event.activityTaskScheduledEventAttributes;
        if (scheduled?.activityType?.name !== 'callModel') continue;
        const input = temporal.api.common.v1.Payloads.encode(scheduled.input ?? {}).finish().length;
        sizes.largestModelInput = Math.max(sizes.largestModelInput, input);
      }
    }
    expect(sizes.history / turns).toBeLessThan(10_700);
    expect(sizes.largestModelInput).toBeLessThan(2048);
    if (process.env['SUREHAND_PRINT'] !== undefined) process.stderr.write(`${JSON.stringify(sizes)}\n`);
  },
  120_000,
);
