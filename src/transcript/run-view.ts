import type { AddedRef, PlannedCall, RunToolInput, ToolResult } from '../contract/activity';
import type { Envelope } from '../contract/envelope';
import type { Message } from '../contract/message';
import { MEMO, TOOLS } from '../contract/names';
import type { ResultDocument } from '../contract/result-document';
import type { Todo } from '../contract/todo';
import { assistantText } from '../conversation/compose-message';
import type { Tail } from '../conversation/ending';
import { troubleOf } from '../conversation/trouble';
import { createHistoryDecoder, type DecoderOptions, type HistoryDecoder, type HistoryEvent } from './decode-history';
import type { ActivityFact, RunFacts } from './facts';
import { modelCalls, transcript, type ModelCallFact } from './transcript';
import type { RunView, StepStatus, StepView, TurnView } from './view';

export interface RunViewer {
  /** Takes a page of the run's, or of the next run's of the chain, history. */
  push(page: { readonly runId: string; readonly events: readonly HistoryEvent[] }): Promise<void>;
  /** What there is to see now; `undefined` before the first event. */
  view(): RunView | undefined;
}

/** Builds the view of a chain of runs from its history, page by page. Needs no worker and no query. */
export function createRunViewer(workflowId: string, options: DecoderOptions): RunViewer {
  const decoders = new Map<string, HistoryDecoder>();
  return {
    push: async ({ runId, events }) => {
      const decoder = decoders.get(runId) ?? createHistoryDecoder(runId, options);
      decoders.set(runId, decoder);
      await decoder.push(events);
    },
    view: () => {
      const runs = [...decoders.values()].flatMap((decoder) => decoder.facts() ?? []);
      return runs.length === 0 ? undefined : viewOf(workflowId, runs);
    },
  };
}

function viewOf(workflowId: string, runs: readonly RunFacts[]): RunView {
  const first = runs[0] as RunFacts;
  const last = runs[runs.length - 1] as RunFacts;
  const result = resultOf(last);
  const closed = isOver(last);
  const chain = chainOf(runs, closed);
  const turns = chain.calls.map((call, index) => turnOf(chain, call, chain.calls[index + 1]));
  return {
    workflowId,
    runId: last.firstRunId,
    input: first.input,
    startedAt: first.startedAt,
    messages: chainMessages(runs),
    turns,
    todos: todosOf(turns),
    ...(result === undefined ? {} : { result }),
    closed,
    ...(closed && last.close !== undefined ? { closeStatus: last.close.status } : {}),
    ...(last.close?.reason ? { closeReason: last.close.reason } : {}),
    received: [...chain.envelopes.keys()],
    atRest: first.input.kind === 'chat' && isAtRest(chain),
    unread: (last.memo[MEMO.unread] as string[] | undefined) ?? [],
    historyBytes: sum(runs.map(({ bytes }) => bytes)),
    historyEvents: sum(runs.map(({ events }) => events)),
    earlierPartGone: first.carried !== undefined,
  };
}

/** The input of the newest call of that tool which succeeded. */
function todosOf(turns: readonly TurnView[]): readonly Todo[] {
  const steps = turns.flatMap(({ steps: all }) => all);
  const last = steps.filter(({ tool, status }) => tool === TOOLS.todo && status === 'success').pop();
  return (last?.input as { readonly todos?: readonly Todo[] } | undefined)?.todos ?? [];
}

/** Closed, and no run of the chain goes on with it. */
function isOver({ close }: RunFacts): boolean {
  return close !== undefined && close.status !== 'continued_as_new';
}

/** A run that was handed a window repeats what the chain before it said: only what came after it is new. */
function chainMessages(runs: readonly RunFacts[]): Message[] {
  return runs.flatMap((facts, index) => transcript(facts).slice(index === 0 ? 0 : (facts.carried?.window.length ?? 0)));
}

function resultOf(facts: RunFacts): ResultDocument | undefined {
  const { close } = facts;
  if (close === undefined) return undefined;
  if (close.status === 'completed') return close.result as ResultDocument;
  return (facts.memo[MEMO.result] ?? close.failure?.details) as ResultDocument | undefined;
}

/** A chain as a whole: what a turn began in one run may end in the next. */
interface Chain {
  readonly calls: readonly ModelCallFact[];
  readonly activities: ReadonlyMap<string, ActivityFact>;
  readonly envelopes: ReadonlyMap<string, Envelope>;
  readonly tail: readonly AddedRef[];
  readonly closed: boolean;
}

function chainOf(runs: readonly RunFacts[], closed: boolean): Chain {
  const last = runs[runs.length - 1];
  return {
    calls: runs.flatMap((facts) => modelCalls(facts)),
    activities: new Map(runs.flatMap(({ activities }) => [...activities])),
    envelopes: new Map(runs.flatMap(({ envelopes }) => [...envelopes])),
    tail: (last?.memo[MEMO.tail] as Tail | undefined)?.added ?? [],
    closed,
  };
}

/** The last answer asks for nothing, and no message waits to be taken in. */
function isAtRest({ calls, envelopes, closed }: Chain): boolean {
  const result = calls[calls.length - 1]?.result;
  if (closed || result === undefined || result.calls.length > 0) return false;
  if (troubleOf(result.stopReason, result.message) !== undefined || !RESTING.includes(result.stopReason)) return false;
  const taken = new Set(
    calls.flatMap(({ input }) => input.added.flatMap((ref) => ('message' in ref ? ref.message : []))),
  );
  return [...envelopes.values()].every(({ id }) => taken.has(id));
}

const RESTING = ['end_turn', 'stop_sequence', 'tool_use'];

function turnOf(chain: Chain, call: ModelCallFact, next: ModelCallFact | undefined): TurnView {
  const { activity, result } = call;
  const said = call.input.added.flatMap((ref) => {
    const envelope = 'message' in ref ? chain.envelopes.get(ref.message) : undefined;
    return envelope === undefined ? [] : [{ by: envelope.by, text: envelope.body.text ?? '' }];
  });
  const open = activity.status === 'scheduled' && !chain.closed;
  return {
    turn: call.turn,
    said,
    status: open ? 'running' : result === undefined ? 'failed' : 'done',
    text: assistantText(result?.message),
    startedAt: activity.startedAt ?? activity.scheduledAt,
    ...(result === undefined
      ? {}
      : {
          content: result.message.content,
          stopReason: result.stopReason,
          usage: result.usage,
          durationMs: result.durationMs,
        }),
    ...(activity.failure === undefined ? {} : { failure: activity.failure }),
    steps: stepsOf(chain, call, next),
  };
}

function stepsOf(chain: Chain, call: ModelCallFact, next: ModelCallFact | undefined): StepView[] {
  const refs = next?.input.added ?? chain.tail;
  return (call.result?.calls ?? []).map((plan): StepView => {
    const name = `${String(call.turn)}.${String(plan.n)}`;
    const activity = chain.activities.get(`tool-${name}`);
    const inline = refs.flatMap((ref) => ('inline' in ref && ref.inline.call === name ? [ref.inline.text] : []))[0];
    const given = (activity?.input as RunToolInput | undefined)?.input;
    return {
      call: name,
      activityId: `tool-${name}`,
      tool: plan.name,
      summary: plan.summary,
      input: given ?? plan.input ?? inputOf(call, plan.blockId),
      status: statusOf(plan, activity, inline, chain.closed),
      ...ranOf(activity),
      ...resultTextOf(activity, inline),
    };
  });
}

function ranOf(activity: ActivityFact | undefined): Pick<StepView, 'startedAt' | 'durationMs' | 'details'> {
  if (activity === undefined) return {};
  const result = activity.result as ToolResult | undefined;
  return {
    startedAt: activity.startedAt ?? activity.scheduledAt,
    ...(result === undefined ? {} : { durationMs: result.durationMs }),
    ...(result?.details === undefined ? {} : { details: result.details }),
  };
}

function resultTextOf(activity: ActivityFact | undefined, inline: string | undefined): Pick<StepView, 'result'> {
  const text = (activity?.result as ToolResult | undefined)?.message ?? inline;
  return text === undefined ? {} : { result: text };
}

function statusOf(
  plan: PlannedCall,
  activity: ActivityFact | undefined,
  inline: string | undefined,
  closed: boolean,
): StepStatus {
  if (activity === undefined) {
    if (inline === undefined) return closed ? 'interrupted' : 'waiting';
    return plan.known && plan.verdict !== 'allow' ? 'denied' : 'failed';
  }
  if (activity.status === 'completed') {
    return (activity.result as ToolResult).status === 'success' ? 'success' : 'failed';
  }
  if (activity.status === 'scheduled') return closed || inline !== undefined ? 'interrupted' : 'running';
  return activity.status === 'failed' ? 'failed' : 'interrupted';
}

function inputOf(call: ModelCallFact, blockId: string): unknown {
  const block = call.result?.message.content.find((candidate) => 'id' in candidate && candidate.id === blockId);
  return block !== undefined && 'input' in block ? block.input : undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
