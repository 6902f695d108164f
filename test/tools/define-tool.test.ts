import { z } from 'zod';
import { createWorlds, type RunWorld } from '../../src/activities/run-world';
import { defineTool, toTool, type OwnTool, type OwnToolContext, type OwnToolOutput } from '../../src/tools/define-tool';
import type { ToolWorld } from '../../src/tools/tool';
import { createSeenFiles } from '../../src/workspace/seen-files';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';

const input = z.object({ ticket: z.string() });

let world: RunWorld & ToolWorld;

beforeAll(async () => {
  const stateDirectory = await tempDirectory('state');
  const parts = { stateDirectory, demoRoot: '/nowhere', nodePath: process.execPath };
  const open = createWorlds({ ...parts, sandbox: { mode: 'off', detail: 'test' } });
  const seen = createSeenFiles({ stateDirectory, workflowId: 'wf', runId: 'run' });
  world = { ...open(await tempDirectory('workspace')), seen };
});

afterAll(removeTempDirectories);

/** A tool in a real workspace. */
function bench(execute: OwnTool<typeof input>['execute'], change: Partial<OwnTool<typeof input>> = {}) {
  const own = defineTool({ name: 'note', description: 'd', input, effect: 'write', execute, ...change });
  const tool = toTool(own);
  const controller = new AbortController();
  const seen: string[] = [];
  const context = {
    ...world,
    callId: 'wf\nm-1',
    id: 'm-1',
    keyOf: (id: string) => `wf\n${id}`,
    signal: controller.signal,
    maxBytes: 1_000,
    onProgress: (tail: string, bytes: number) => void seen.push(`${tail}/${String(bytes)}`),
  };
  return { tool, controller, seen, run: () => tool.run({ ticket: 'T-1' }, context) };
}

test('what it gets: the input, the directory, a key of the call, progress that others see', async () => {
  const { run, seen } = bench((given, { directory, callId, progress }) => {
    progress('half');
    return `${given.ticket} in ${directory} by ${callId}`;
  });
  expect(await run()).toEqual({ text: `T-1 in ${world.files.directory} by wf\nm-1` });
  expect(seen).toEqual(['half/4']);
});

test.each([
  ['an error of its own', { text: 'no', isError: true }, { text: 'no', isError: true }],
  ['an object without isError', { text: 'yes' }, { text: 'yes', isError: false }],
  ['nothing', undefined, { text: expect.stringContaining('answered no text'), isError: true }],
])('it answers %s → an answer for the model', async (_what, answer, expected) => {
  expect(await bench(() => answer as OwnToolOutput).run()).toEqual(expected);
});

test('it throws → an error result for the model, so that nothing tries it again', async () => {
  expect(await bench(() => Promise.reject(new Error('refused: 403'))).run()).toEqual({
    text: 'note failed: refused: 403',
    isError: true,
  });
});

const untilAborted = (_input: unknown, { signal }: OwnToolContext) =>
  new Promise<string>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });

test.each([
  ['write', 'note was cancelled. It may have had none, some or all of its effects.'],
  ['read', 'note was cancelled.'],
] as const)('a %s is cancelled → it stops and says what is known', async (effect, text) => {
  const { run, controller } = bench(untilAborted, { effect });
  const result = run();
  controller.abort('cancelled');
  expect(await result).toEqual({ text, isError: true });
});

test('it does not listen to a cancellation → after five seconds it is left behind, and its answer says so', async () => {
  jest.useFakeTimers();
  try {
    const { run, controller } = bench(() => new Promise<string>(() => undefined));
    const result = run();
    controller.abort('cancelled');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await result).toMatchObject({
      text: expect.stringMatching(/did not stop; it may still run\. .*some or all/),
    });
  } finally {
    jest.useRealTimers();
  }
});

test('the worker shuts down → it is not told to stop, and its answer still counts', async () => {
  let end: (text: string) => void = () => undefined;
  const { run, controller } = bench((_input, { signal }) => {
    return new Promise<string>((resolve) => {
      end = (text) => resolve(`${text}, aborted: ${String(signal.aborted)}`);
    });
  });
  const result = run();
  controller.abort('detach');
  end('done');
  expect(await result).toEqual({ text: 'done, aborted: false' });
});

test.each([
  ['write', undefined, true],
  ['write', false, undefined],
  ['read', undefined, undefined],
] as const)('effect %s, asks %s → asks in mode auto: %s', (effect, asks, expected) => {
  const { tool } = bench(() => '', { effect, ...(asks === undefined ? {} : { asks }) });
  expect(tool.asksInAuto).toBe(expected);
});

test.each([
  ['by its summary', { summary: () => 'line one\nline two' }, 'line one …'],
  ['by its input without one', {}, '{"ticket":"T-1"}'],
  [
    'by its input when the summary throws',
    {
      summary: () => {
        throw new Error('no');
      },
    },
    '{"ticket":"T-1"}',
  ],
])('people see it %s', (_how, change, expected) => {
  expect(bench(() => '', change).tool.summarize({ ticket: 'T-1' })).toBe(expected);
});
