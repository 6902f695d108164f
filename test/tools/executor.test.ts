import { z } from 'zod';
import type { Verdict } from '../../src/contract/activity';
import { createExecutor } from '../../src/tools/executor';
import type { PermitRequest, ToolLogEntry } from '../../src/tools/executor';
import { createToolRegistry } from '../../src/tools/registry';
import { defineTool } from '../../src/tools/tool';
import type { Tool, ToolOutput, ToolWorld } from '../../src/tools/tool';
import { WorkspaceError } from '../../src/workspace/ports';

const world = { sandbox: { mode: 'strict', detail: '' } } as ToolWorld;

function setUp(given: Partial<Tool> & { readonly verdict?: Verdict; readonly answers?: (() => ToolOutput)[] }) {
  const { verdict = 'allow', answers = [() => ({ text: 'ok' })], ...more } = given;
  const runs: unknown[] = [];
  const log: ToolLogEntry[] = [];
  const asked: PermitRequest[] = [];
  const tool = defineTool({
    name: 'Probe',
    description: '',
    schema: z.object({ n: z.int() }),
    effect: 'read',
    summarize: ({ n }) => `n is ${String(n)}`,
    isTransient: (error) => error instanceof Error && error.message === 'flaky',
    run: async (input) => {
      runs.push(input);
      const answer = answers[Math.min(runs.length, answers.length) - 1];
      return answer!();
    },
    ...more,
  });
  const executor = createExecutor({
    registry: createToolRegistry([tool]),
    world,
    permit: (request) => {
      asked.push(request);
      return { verdict, reason: 'because' };
    },
    digest: (name, input) => `v1:${name}:${JSON.stringify(input)}`,
    retryDelayMs: 1,
    log: (entry) => log.push(entry),
  });
  const execute = async (
    name: string,
    input: unknown,
    more: { grant?: string; signal?: AbortSignal; maxBytes?: number } = {},
  ) =>
    await executor.execute(
      { callId: 'm-1', name, input, ...(more.grant === undefined ? {} : { grant: more.grant }) },
      {
        signal: more.signal ?? new AbortController().signal,
        maxBytes: more.maxBytes ?? 1000,
        onProgress: () => undefined,
      },
    );
  return { executor, execute, runs, log, asked, steps: () => log.map(({ step }) => step) };
}

const fail = (message: string) => () => {
  throw new Error(message);
};

describe('execute', () => {
  test('allowed and valid → runs once with the coerced input; the log has the call id at each step', async () => {
    const { execute, runs, log, asked } = setUp({});
    expect(await execute('Probe', { n: '3' })).toEqual({
      status: 'success',
      message: 'ok',
      tool: 'Probe',
      durationMs: expect.any(Number),
    });
    expect(runs).toEqual([{ n: 3 }]);
    expect(asked[0]).toEqual({
      tool: 'Probe',
      effect: 'read',
      runsCommands: false,
      asksInAuto: false,
      input: { n: 3 },
      writes: [],
    });
    expect(log.map(({ callId, step }) => [callId, step])).toEqual([
      ['m-1', 'start'],
      ['m-1', 'success'],
    ]);
  });

  test('unknown name → an error that names the tools; a name that differs in case alone runs', async () => {
    const { execute, runs } = setUp({});
    expect(await execute('nope', {})).toMatchObject({
      status: 'failed',
      message: 'There is no tool named "nope". The tools are: Probe.',
    });
    expect(await execute('probe', { n: 1 })).toMatchObject({ status: 'success', tool: 'Probe' });
    expect(runs).toHaveLength(1);
  });

  test('denied → an error with the reason, nothing runs, even if the input is not valid', async () => {
    const { execute, runs } = setUp({ verdict: 'deny' });
    expect(await execute('Probe', { n: 1 })).toMatchObject({ status: 'failed', message: 'Denied: because' });
    expect(await execute('Probe', {})).toMatchObject({ status: 'failed', message: 'Denied: because' });
    expect(runs).toEqual([]);
  });

  test('asked → need_confirm; with the grant of exactly this digest it runs', async () => {
    const { execute, runs } = setUp({ verdict: 'ask' });
    expect(await execute('Probe', { n: 1 })).toMatchObject({ status: 'need_confirm', message: 'because' });
    expect(await execute('Probe', { n: 1 }, { grant: 'v1:Probe:{"n":2}' })).toMatchObject({ status: 'need_confirm' });
    expect(runs).toEqual([]);
    expect(await execute('Probe', { n: '1' }, { grant: 'v1:Probe:{"n":1}' })).toMatchObject({ status: 'success' });
  });

  test('invalid input → an error by name, nothing runs and nobody is asked', async () => {
    const { execute, runs } = setUp({ verdict: 'ask' });
    expect(await execute('Probe', {})).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('`n` is missing'),
    });
    expect(runs).toEqual([]);
  });

  test('a read that fails twice in passing → third try succeeds', async () => {
    const { execute, steps } = setUp({ answers: [fail('flaky'), fail('flaky'), () => ({ text: 'there' })] });
    expect(await execute('Probe', { n: 1 })).toMatchObject({ status: 'success', message: 'there' });
    expect(steps()).toEqual(['start', 'retry', 'retry', 'success']);
  });

  test('a read that always fails in passing → an error after three tries', async () => {
    const { execute, runs } = setUp({ answers: [fail('flaky')] });
    expect(await execute('Probe', { n: 1 })).toMatchObject({ status: 'failed', message: 'flaky' });
    expect(runs).toHaveLength(3);
  });

  test('a write that fails in passing → never tried again', async () => {
    const { execute, runs } = setUp({ effect: 'write', answers: [fail('flaky')] });
    expect(await execute('Probe', { n: 1 })).toMatchObject({ status: 'failed', message: 'flaky' });
    expect(runs).toHaveLength(1);
  });

  test('a refusal of the workspace → an error for the model; a bug → thrown', async () => {
    const refusing = setUp({
      answers: [
        () => {
          throw new WorkspaceError('no such file');
        },
      ],
    });
    expect(await refusing.execute('Probe', { n: 1 })).toMatchObject({ status: 'failed', message: 'no such file' });
    expect(refusing.runs).toHaveLength(1);
    const broken = setUp({ answers: [fail('undefined is not a function')] });
    await expect(broken.execute('Probe', { n: 1 })).rejects.toThrow('undefined is not a function');
    expect(broken.steps()).toEqual(['start', 'bug']);
  });

  test('aborted before or between tries → throws the reason', async () => {
    const abort = new AbortController();
    const { execute, runs } = setUp({
      answers: [
        () => {
          abort.abort('detach');
          throw new Error('flaky');
        },
      ],
    });
    await expect(execute('Probe', { n: 1 }, { signal: abort.signal })).rejects.toBe('detach');
    await expect(execute('Probe', { n: 1 }, { signal: abort.signal })).rejects.toBe('detach');
    expect(runs).toHaveLength(1);
  });

  test('a text beyond the share → cut in the middle, and says so', async () => {
    const { execute } = setUp({ answers: [() => ({ text: 'x'.repeat(5000) })] });
    const { message } = await execute('Probe', { n: 1 }, { maxBytes: 500 });
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(500);
    expect(message).toMatch(/\[… 4\d{3} bytes left out …\]/u);
  });
});

describe('plan', () => {
  test('a valid call → summary, verdict, digest of the final input; input only if it was changed', () => {
    const { executor, runs } = setUp({ verdict: 'ask' });
    expect(executor.plan({ name: 'Probe', input: { n: 3 } })).toEqual({
      name: 'Probe',
      known: true,
      effect: 'read',
      summary: 'n is 3',
      verdict: 'ask',
      reason: 'because',
      digest: 'v1:Probe:{"n":3}',
    });
    expect(executor.plan({ name: 'probe', input: { n: '3' } })).toMatchObject({
      name: 'Probe',
      input: { n: 3 },
      digest: 'v1:Probe:{"n":3}',
    });
    expect(runs).toEqual([]);
  });

  test('an invalid call → nobody is asked about it; a denied one stays denied', () => {
    expect(setUp({ verdict: 'ask' }).executor.plan({ name: 'Probe', input: {} })).toMatchObject({ verdict: 'allow' });
    expect(setUp({ verdict: 'deny' }).executor.plan({ name: 'Probe', input: {} })).toMatchObject({ verdict: 'deny' });
  });

  test('an unknown tool → not known, counts as a change, whatever its input is', () => {
    for (const input of [undefined, null, 1, { a: '\u001b[2J' }]) {
      expect(setUp({}).executor.plan({ name: 'nope', input })).toMatchObject({
        known: false,
        effect: 'write',
        verdict: 'allow',
      });
    }
  });

  test('a summary → control characters visible', () => {
    const { executor } = setUp({ summarize: () => 'rm \u001b[2K\u202ex' });
    expect(executor.plan({ name: 'Probe', input: { n: 1 } }).summary).toBe(String.raw`rm \x1b[2K\u202ex`);
  });
});
