import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Executed, Toolbox } from '../../src/activities/host';
import { createToolboxes } from '../../src/activities/run-toolbox';
import { createWorlds } from '../../src/activities/run-world';
import { defineTool, toTool, type OwnTool } from '../../src/tools/define-tool';
import { createToolRegistry } from '../../src/tools/registry';
import { runInput } from '../support/run-input';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';

afterAll(removeTempDirectories);

const input = z.object({ ticket: z.string() });

interface Bench {
  readonly stateDirectory: string;
  /** A toolbox as a worker process has it; a second one stands for the next worker. */
  toolbox(unattended?: boolean): Toolbox;
  readonly executions: string[];
}

async function setUp(change: Partial<OwnTool<typeof input>>): Promise<Bench> {
  const [workspace, stateDirectory] = [await tempDirectory('workspace'), await tempDirectory('state')];
  const executions: string[] = [];
  const own = defineTool({
    name: 'note',
    description: 'd',
    input,
    effect: 'write',
    execute: ({ ticket }) => `Added to ${ticket}.`,
    ...change,
  });
  const counted: OwnTool = {
    ...own,
    execute: (given, context) => {
      executions.push(context.callId);
      return own.execute(given, context);
    },
  };
  const sandbox = { mode: 'off', detail: 'test' } as const;
  const toolbox = (unattended = false): Toolbox =>
    createToolboxes({
      registry: createToolRegistry([toTool(counted)]),
      worldOf: createWorlds({ stateDirectory, sandbox, nodePath: process.execPath, demoRoot: '/nowhere' }),
      stateDirectory,
      log: () => undefined,
      isRunClosed: () => Promise.resolve(false),
      isJournalOurs: () => true,
      takeWorkspace: () => Promise.resolve(undefined),
      server: 'test',
    })({
      input: { ...runInput({ workspace }), permission: { mode: 'auto', unattended } },
      facts: null,
      workflowId: 'wf',
      runId: 'run',
    });
  return { stateDirectory, toolbox, executions };
}

const CALL = { call: '1.1', callId: 'm-1', name: 'note', input: { ticket: 'SHOP-1' } };

function deliver(toolbox: Toolbox, grant?: string): Promise<Executed> {
  const options = { meaning: () => 'lost' as const, maxBytes: 10_000, onProgress: () => undefined };
  const call = { ...CALL, ...(grant === undefined ? {} : { grant }) };
  return toolbox.execute(call, { ...options, signal: new AbortController().signal });
}

test('a write in mode auto → asks; granted, it runs once however often and to whatever worker it is delivered', async () => {
  const { toolbox, executions } = await setUp({});
  const plan = toolbox().plan(CALL);
  expect(plan).toMatchObject({
    verdict: 'ask',
    effect: 'write',
    reason: expect.stringContaining('outside the workspace'),
  });
  expect(await deliver(toolbox())).toMatchObject({ status: 'need_confirm' });

  const first = await deliver(toolbox(), plan.digest);
  const second = await deliver(toolbox(), plan.digest);

  expect(first).toMatchObject({ status: 'success', message: 'Added to SHOP-1.' });
  expect(second).toMatchObject({ status: 'success', message: 'Added to SHOP-1.', details: { origin: 'replayed' } });
  expect(executions).toEqual(['wf\nm-1']);
});

test('a write is under way when the next worker gets the call → not started again, and the answer says that nobody knows', async () => {
  let end: (text: string) => void = () => undefined;
  const { toolbox, executions } = await setUp({
    asks: false,
    execute: () => new Promise<string>((resolve) => (end = resolve)),
  });
  const first = deliver(toolbox());
  await waitFor('the start', () => executions.length === 1);

  const second = await deliver(toolbox());
  end('late');
  await first;
  const third = await deliver(toolbox());

  expect(second).toMatchObject({ status: 'failed', message: expect.stringContaining('is not known') });
  expect(third.message).toBe(second.message);
  expect(executions).toHaveLength(1);
});

test('a write that throws → an error for the model, recorded like any other outcome', async () => {
  const { toolbox, executions } = await setUp({ asks: false, execute: () => Promise.reject(new Error('403')) });
  const answers = [await deliver(toolbox()), await deliver(toolbox())];
  expect(answers.map(({ status, message }) => [status, message])).toEqual([
    ['failed', 'note failed: 403'],
    ['failed', 'note failed: 403'],
  ]);
  expect(executions).toHaveLength(1);
});

test('a read → allowed, not journaled, and run again when it is delivered again', async () => {
  const { toolbox, executions, stateDirectory } = await setUp({ effect: 'read' });
  expect(toolbox().plan(CALL)).toMatchObject({ verdict: 'allow', effect: 'read' });
  await deliver(toolbox());
  await deliver(toolbox());
  expect(executions).toHaveLength(2);
  expect(existsSync(path.join(stateDirectory, 'calls'))).toBe(false);
});

test.each([
  ['a write, unattended', {}, true, 'deny'],
  ['a write that may run without asking', { asks: false }, false, 'allow'],
] as const)('%s', async (_what, change, unattended, expected) => {
  const { toolbox } = await setUp(change);
  expect(toolbox(unattended).plan(CALL).verdict).toBe(expected);
});
