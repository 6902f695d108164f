import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AbortMeaning } from '../../src/activities/delivery';
import type { ToolCall, Toolbox } from '../../src/activities/host';
import { createToolboxes, type ToolboxOptions } from '../../src/activities/run-toolbox';
import { createWorlds } from '../../src/activities/run-world';
import { BUILTIN_TOOLS } from '../../src/tools/builtin-tools';
import { createToolRegistry } from '../../src/tools/registry';
import { runInput } from '../support/run-input';
import { tempDirectory } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';

interface Bench {
  readonly workspace: string;
  readonly stateDirectory: string;
  /** A toolbox as a worker process has it; a second one stands for the next worker. */
  toolbox(change?: Partial<ToolboxOptions>): Toolbox;
  ledger(): string[];
}

async function setUp(): Promise<Bench> {
  const workspace = await tempDirectory('workspace');
  const stateDirectory = await tempDirectory('state');
  const sandbox = { mode: 'off', detail: 'test' } as const;
  return {
    workspace,
    stateDirectory,
    toolbox: (change = {}) => {
      const worldOf = createWorlds({ stateDirectory, sandbox, nodePath: process.execPath, demoRoot: '/nowhere' });
      const registry = createToolRegistry(BUILTIN_TOOLS);
      const options = { registry, worldOf, stateDirectory, log: () => undefined };
      const toolboxes = createToolboxes({
        ...options,
        isRunClosed: () => Promise.resolve(false),
        isJournalOurs: () => true,
        takeWorkspace: () => Promise.resolve(undefined),
        server: 'test',
        ...change,
      });
      return toolboxes({ input: runInput({ workspace }), facts: null, workflowId: 'wf', runId: 'run' });
    },
    ledger: () => {
      try {
        return readFileSync(path.join(workspace, 'ledger'), 'utf8').split('\n').filter(Boolean);
      } catch {
        return [];
      }
    },
  };
}

interface TestDelivery {
  readonly result: ReturnType<Toolbox['execute']>;
  abort(meaning: AbortMeaning): void;
}

function deliver(toolbox: Toolbox, call: Partial<ToolCall>): TestDelivery {
  const controller = new AbortController();
  let meaning: AbortMeaning = 'lost';
  const result = toolbox.execute(
    { call: '1.1', callId: 'm-1', name: 'bash', input: {}, ...call },
    { signal: controller.signal, meaning: () => meaning, maxBytes: 10_000, onProgress: () => undefined },
  );
  result.catch(() => undefined);
  return {
    result,
    abort: (why) => {
      meaning = why;
      controller.abort(new Error(why));
    },
  };
}

const SLOW = { input: { command: 'echo start >> ledger; sleep 0.7; echo end >> ledger' } };

test('the same call delivered again after its end → the recorded result, and nothing is written again', async () => {
  const bench = await setUp();
  const call = { name: 'write_file', input: { path: 'f.txt', content: 'ours' } };
  const first = await deliver(bench.toolbox(), call).result;
  writeFileSync(path.join(bench.workspace, 'f.txt'), 'theirs');

  const second = await deliver(bench.toolbox(), call).result;

  expect(second).toMatchObject({ status: 'success', message: first.message, details: { origin: 'replayed' } });
  expect(readFileSync(path.join(bench.workspace, 'f.txt'), 'utf8')).toBe('theirs');
});

test('two deliveries at once in one worker → one start, both get its result', async () => {
  const bench = await setUp();
  const toolbox = bench.toolbox();

  const results = await Promise.all([deliver(toolbox, SLOW).result, deliver(toolbox, SLOW).result]);

  expect(results.map(({ status }) => status)).toEqual(['success', 'success']);
  expect(bench.ledger()).toEqual(['start', 'end']);
});

test('contact is lost and the run is open → only the waiting ends; the next delivery joins the same command', async () => {
  const bench = await setUp();
  const toolbox = bench.toolbox();
  const first = deliver(toolbox, SLOW);
  await waitFor('the start', () => bench.ledger().length === 1);

  first.abort('lost');
  await expect(first.result).rejects.toThrow('lost');
  const second = await deliver(toolbox, SLOW).result;

  expect(second.status).toBe('success');
  expect(bench.ledger()).toEqual(['start', 'end']);
});

test('contact is lost and the run is closed → the command is ended', async () => {
  const bench = await setUp();
  const toolbox = bench.toolbox({ isRunClosed: () => Promise.resolve(true) });
  const first = deliver(toolbox, { input: { command: 'echo start >> ledger; sleep 300; echo end >> ledger' } });
  await waitFor('the start', () => bench.ledger().length === 1);

  first.abort('lost');
  await expect(first.result).rejects.toThrow('lost');
  const next = await deliver(toolbox, { input: { command: 'unused' } }).result;

  expect(next.message).toContain('cancelled');
  expect(bench.ledger()).toEqual(['start']);
});

test('cancelled → the command is ended, and its result says so', async () => {
  const bench = await setUp();
  const first = deliver(bench.toolbox(), { input: { command: 'echo start >> ledger; sleep 300' } });
  await waitFor('the start', () => bench.ledger().length === 1);

  first.abort('cancelled');

  await expect(first.result).resolves.toMatchObject({
    status: 'failed',
    message: expect.stringContaining('cancelled'),
  });
});

test('the worker shuts down → the command goes on, and the next worker attaches to it', async () => {
  const bench = await setUp();
  const first = deliver(bench.toolbox(), SLOW);
  await waitFor('the start', () => bench.ledger().length === 1);

  first.abort('shutdown');
  await expect(first.result).rejects.toThrow('shutdown');
  const second = await deliver(bench.toolbox(), SLOW).result;

  expect(second).toMatchObject({ status: 'success', details: { origin: 're-attached', exitCode: 0 } });
  expect(bench.ledger()).toEqual(['start', 'end']);
});

test('the state directory is not the one this worker began with → nothing that changes something starts', async () => {
  const bench = await setUp();
  const toolbox = bench.toolbox({ isJournalOurs: () => false });

  const refused = await deliver(toolbox, SLOW).result;
  const read = await deliver(toolbox, { callId: 'm-2', name: 'list_files', input: {} }).result;

  expect(refused).toMatchObject({ status: 'failed', message: expect.stringContaining('was not started now') });
  expect(read.status).toBe('success');
  expect(bench.ledger()).toEqual([]);
});

test('a call that a person has to agree to → asks each time, and runs once when it was granted', async () => {
  const bench = await setUp();
  const toolbox = bench.toolbox();
  const call = { name: 'write_file', input: { path: '.gitattributes', content: '' } };
  const plan = toolbox.plan(call);

  const asked = await deliver(toolbox, call).result;
  const granted = await deliver(toolbox, { ...call, grant: plan.digest }).result;

  expect([plan.verdict, asked.status, granted.status]).toEqual(['ask', 'need_confirm', 'success']);
});

test('another run has the workspace → no change begins, in words; one that had begun is still followed to its end', async () => {
  const bench = await setUp();
  const first = deliver(bench.toolbox(), SLOW);
  await waitFor('the start', () => bench.ledger().length === 1);
  first.abort('shutdown');
  const busy = bench.toolbox({ takeWorkspace: () => Promise.resolve('/ws is being changed by the run other') });

  const [begun, refused, read] = await Promise.all([
    deliver(busy, SLOW).result,
    deliver(busy, { ...SLOW, callId: 'm-2' }).result,
    deliver(busy, { callId: 'm-3', name: 'list_files', input: {} }).result,
  ]);
  const later = await deliver(bench.toolbox(), { callId: 'm-2', input: { command: 'echo later >> ledger' } }).result;

  expect(begun).toMatchObject({ status: 'success', details: { origin: 're-attached' } });
  expect(refused).toMatchObject({
    status: 'failed',
    message:
      'Not started: /ws is being changed by the run other. Nothing of this call happened; it can be repeated then.',
  });
  expect(read.status).toBe('success');
  expect(later.status).toBe('success');
  expect(bench.ledger()).toEqual(['start', 'end', 'later']);
});

test('the state directory is removed while a command runs → it runs once to its end, and its outcome is unknown', async () => {
  const bench = await setUp();
  const first = deliver(bench.toolbox(), SLOW);
  await waitFor('the start', () => bench.ledger().length === 1);
  rmSync(bench.stateDirectory, { recursive: true });

  const { status, message } = await first.result;

  expect(status).toBe('failed');
  expect(message).toContain('outcome unknown');
  expect(bench.ledger()).toEqual(['start', 'end']);
});
