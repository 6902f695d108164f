import fc from 'fast-check';
import type { CallModelInput } from '../../src/contract/activity';
import type { Message } from '../../src/contract/message';
import { messagesForModel } from '../../src/conversation/record';
import { createHistoryDecoder, type HistoryDecoder } from '../../src/transcript/decode-history';
import type { RunFacts } from '../../src/transcript/facts';
import { createRunViewer } from '../../src/transcript/run-view';
import { transcript, windowOf } from '../../src/transcript/transcript';
import { createWindows, type Window } from '../../src/transcript/window-cache';
import { workspaceFacts } from '../support/conversation-parts';
import { runScript, simulateRun, type SimulatedRun } from '../support/simulated-run';

/** Follows a run as readers and workers do, and compares each window and the end with the workflow's own messages. */
async function follow({ input, moments }: SimulatedRun) {
  const decoders = new Map<string, HistoryDecoder>();
  const viewer = createRunViewer('wf', { codecs: [] });
  const factsOf = (runId: string): RunFacts => {
    const facts = decoders.get(runId)?.facts();
    if (facts === undefined) throw new Error(`nothing is known of ${runId}`);
    return facts;
  };
  const readRun = (run: { readonly runId: string }) => Promise.resolve(factsOf(run.runId));
  const caches = [64_000_000, 3_000, 0].map((maxBytes) => createWindows({ readRun, maxBytes }));
  const lossy = createWindows({ readRun, maxBytes: 64_000_000 });
  const loaded = new Map<CallModelInput, Window[]>();
  const counts = { asked: 0, results: 0 };

  for (const moment of moments) {
    const run = { workflowId: 'wf', runId: 'runId' in moment ? moment.runId : '' };
    switch (moment.kind) {
      case 'run':
        decoders.set(moment.runId, createHistoryDecoder(moment.runId, { codecs: [] }));
        break;
      case 'event':
        await decoders.get(moment.runId)?.push([moment.event]);
        await viewer.push({ runId: moment.runId, events: [moment.event] });
        // A live run can be read after every single event.
        transcript(factsOf(moment.runId));
        break;
      case 'asked': {
        counts.asked += 1;
        const facts = factsOf(moment.runId);
        expect(windowOf(facts, moment.input)).toEqual(moment.messages);
        expect(transcript(facts)).toEqual(moment.messages);
        const windows = await Promise.all([...caches, lossy].map((cache) => cache.load(run, moment.input)));
        for (const { messages, facts: known, input: runInput } of windows) {
          expect(messages).toEqual(moment.messages);
          expect([known, runInput]).toEqual([workspaceFacts, input]);
        }
        loaded.set(moment.input, windows);
        break;
      }
      case 'answered':
        [...caches, lossy].forEach((cache, index) => {
          const window = loaded.get(moment.input)?.[index];
          if (window !== undefined) cache.answered(run, moment.input, window, moment.result);
        });
        break;
      case 'result':
        counts.results += 1;
        for (const cache of caches) cache.keepResult(moment.result);
        if (counts.results % 2 === 0) lossy.keepResult(moment.result);
        break;
      case 'closed':
        expect(transcript(factsOf(moment.runId))).toEqual(messagesForModel(moment.conversation));
        expect(viewer.view()?.messages).toEqual(messagesForModel(moment.conversation));
        break;
    }
  }
  return counts;
}

test('whatever happens in a run: history and caches give each model call, and the end, the messages of the workflow', async () => {
  const all = { asked: 0, results: 0 };
  await fc.assert(
    fc.asyncProperty(runScript, async (script) => {
      const { asked, results } = await follow(simulateRun(script));
      all.asked += asked;
      all.results += results;
    }),
    { numRuns: 150 },
  );
  // The property is about something.
  expect(all.asked).toBeGreaterThan(150);
  expect(all.results).toBeGreaterThan(50);
});

test.each(['early', 'late'] as const)(
  'a conversation that was handed on, %s in a turn → its messages are told once',
  async (when) => {
    const script = (continueAsNew: 'never' | 'early' | 'late') => ({
      kind: 'task' as const,
      end: 'normal' as const,
      turns: [
        {
          text: 'Looking.',
          stopReason: 'usual' as const,
          calls: [
            {
              plan: { effect: 'read' as const, known: true, verdict: 'allow' as const },
              outcome: 'success' as const,
              order: 0,
            },
          ],
          messages: [{ by: 'signalled' as const, at: 1, twice: false }],
          unserved: 0,
          continueAsNew,
        },
      ],
    });
    const messagesOf = async (run: SimulatedRun): Promise<Message[]> => {
      const viewer = createRunViewer('wf', { codecs: [] });
      for (const moment of run.moments) {
        if (moment.kind === 'event') await viewer.push({ runId: moment.runId, events: [moment.event] });
      }
      return [...(viewer.view()?.messages ?? [])];
    };

    const handedOn = await messagesOf(simulateRun(script(when)));

    expect(handedOn.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(handedOn).toEqual(await messagesOf(simulateRun(script('never'))));
  },
);
