import type { StepProgress } from '../../src/contract/activity';
import type { Usage } from '../../src/contract/message';
import type { ResultDocument } from '../../src/contract/result-document';
import { addUsage } from '../../src/conversation/usage';
import { createModels } from '../../src/model/models';
import { checkWindow } from '../../src/model/window-check';
import { decodePayloads } from '../../src/transcript/payloads';
import type { RunView } from '../../src/transcript/view';
import { MODEL_FAULTS, type ModelFault } from '../support/model-faults';
import { startMessagesServer, type MessagesServer } from '../support/messages-server';
import { runInput } from '../support/run-input';
import { startTestWorker, type TestWorker } from '../support/test-worker';
import { success, testToolbox } from '../support/test-toolbox';
import { waitFor } from '../support/wait-for';

const TOOL = { type: 'tool_use', id: 'toolu_1', name: 'write', input: { text: 'one' } };

interface Played {
  readonly fault: ModelFault;
  readonly server: MessagesServer;
  readonly result: ResultDocument;
  readonly view: RunView;
  readonly toolRuns: number;
  /** What the run's history says it was billed for. */
  readonly billed: Usage;
}

/** One of each kind; `npm run faults` plays all. */
const SHORT: readonly string[] = [
  '401 authentication',
  '429 for ever',
  '429 retry-after a day',
  '502 web page',
  'reset',
  'cut',
  'silence',
  'error',
  'stop reason refusal',
  'max_tokens in a call',
];
const FAULTS = MODEL_FAULTS.filter(({ name }) => SHORT.includes(name));

const played = new Map<string, Played>();
let worker: TestWorker | undefined;
const servers: MessagesServer[] = [];

/** Every row at once, each with an endpoint and a run of its own. */
beforeAll(async () => {
  const toolRuns = new Map<string, number>();
  const endpoints: Record<string, { baseUrl: string; apiKey: string }> = {};
  const byName = new Map<string, MessagesServer>();
  for (const fault of FAULTS) {
    const server = await startMessagesServer(fault.plan({ ...TOOL, input: { text: fault.name } }));
    servers.push(server);
    byName.set(fault.name, server);
    endpoints[fault.name] = { baseUrl: fault.address?.(server.url) ?? server.url, apiKey: 'sk-of-the-test' };
  }
  const write = ({ input }: { readonly input: unknown }) => {
    const { text } = input as { readonly text: string };
    toolRuns.set(text, (toolRuns.get(text) ?? 0) + 1);
    return success('written');
  };
  worker = await startTestWorker({
    toolbox: testToolbox({ write }),
    host: {
      models: createModels({
        ...{ endpoints, idleMs: 1_000, timeoutMs: 5_000, maxConcurrentPerEndpoint: 4, coolDownMs: 50 },
        onWarning: () => undefined,
      }),
    },
  });
  const { start, view } = worker;
  await Promise.all(
    FAULTS.map(async (fault) => {
      const base = runInput();
      const handle = await start({
        ...base,
        model: { provider: 'anthropic', model: 'claude-sonnet-5-5', endpoint: fault.name },
        limits: { ...base.limits, modelWaitMs: fault.budgetMs ?? 45_000 },
        timeouts: { ...base.timeouts, modelAttempts: 100 },
      });
      await handle.result().catch(() => undefined);
      const seen = await view(handle.workflowId);
      if (seen.result === undefined) throw new Error(`${fault.name}: no result`);
      const server = byName.get(fault.name) as MessagesServer;
      played.set(fault.name, {
        ...{ fault, server, result: seen.result, view: seen },
        toolRuns: toolRuns.get(fault.name) ?? 0,
        billed: sumOf(Object.values(seen.result.usage)),
      });
    }),
  );
}, 60_000);

afterAll(async () => {
  await worker?.stop();
  await Promise.all(servers.map((server) => server.close()));
});

describe.each(FAULTS.map((fault) => [fault.when, fault.name] as const))('%s: %s', (_, name) => {
  const row = () => played.get(name) as Played;

  test('the run ends as stated, with so many requests', () => {
    const { fault, server, result } = row();
    expect([result.outcome, result.error?.class]).toEqual([fault.outcome, fault.errorClass]);
    if (fault.requests !== undefined) expect(server.requests).toHaveLength(fault.requests);
  });

  test('no tool runs twice, and a cut call does not run', () => {
    const { fault, toolRuns } = row();
    expect(toolRuns).toBe((fault.runsTool ?? fault.outcome === 'done') ? 1 : 0);
  });

  test('the counters add up to what the endpoint served, broken answers included', () => {
    const { server, billed } = row();
    expect(billed).toEqual({
      input: 10 * server.served.length,
      output: 5 * server.served.length,
      cacheRead: 0,
      cacheWrite: 0,
    });
  });

  test('the transcript and each request are valid', () => {
    const { server, view } = row();
    expect(checkWindow(view.messages)).toEqual([]);
    for (const { body } of server.requests) expect(unanswered(body)).toEqual([]);
  });
});

function sumOf(parts: readonly Usage[]): Usage {
  return Object.values(
    parts.reduce((sums, part) => addUsage(sums, 'all', part), addUsage({}, 'all', NOTHING)),
  )[0] as Usage;
}

const NOTHING: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

test('a run that is cancelled in the middle of an answer → what it had spent is told with the cancellation', async () => {
  const server = await startMessagesServer(() => ({
    content: [{ type: 'text', text: 'I write a long text about what I find.' }],
    fault: { afterEvents: 5, kind: 'silence' },
  }));
  servers.push(server);
  const models = createModels({
    endpoints: { default: { baseUrl: server.url, apiKey: 'sk-of-the-test' } },
    ...{ idleMs: 60_000, timeoutMs: 60_000, maxConcurrentPerEndpoint: 4, onWarning: () => undefined },
  });
  const other = await startTestWorker({ host: { models } });
  try {
    const model = { provider: 'anthropic', model: 'claude-sonnet-5-5', endpoint: 'default' } as const;
    const handle = await other.start(runInput({ model }));
    await waitFor('the tail of the answer', async () => {
      const { raw } = await handle.describe();
      const [activity] = raw.pendingActivities ?? [];
      const [progress] = await decodePayloads(activity?.heartbeatDetails?.payloads, []);
      return (progress as StepProgress | undefined)?.spent;
    });
    await handle.cancel();
    await handle.result().catch(() => undefined);
    const { events } = await handle.fetchHistory();
    const cancelled = (events ?? []).flatMap((event) => event.activityTaskCanceledEventAttributes ?? [])[0];
    const [details] = await decodePayloads(cancelled?.details?.payloads, []);
    expect(details).toEqual({
      spent: {
        usage: { 'claude-of-the-test': { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 } },
        costUsd: null,
      },
    });
    const { result } = await other.view(handle.workflowId);
    expect(result).toMatchObject({ outcome: 'cancelled', usage: { 'claude-of-the-test': { input: 10, output: 5 } } });
  } finally {
    await other.stop();
  }
}, 30_000);

/** Calls of a request that the very next message does not answer. */
function unanswered(body: unknown): string[] {
  const { messages } = body as {
    readonly messages: readonly { readonly role: string; readonly content: readonly Record<string, unknown>[] }[];
  };
  return messages.flatMap(({ role, content }, index) => {
    if (role !== 'assistant') return [];
    const asked = content.flatMap(({ type, id }) => (type === 'tool_use' ? [String(id)] : []));
    const results = (messages[index + 1]?.content ?? []).flatMap(({ type, tool_use_id: id }) =>
      type === 'tool_result' ? [String(id)] : [],
    );
    return asked.join() === results.join() ? [] : asked;
  });
}
