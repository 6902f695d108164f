import type {
  AddedRef,
  CallModelInput,
  CallModelResult,
  PrepareResult,
  SummarizeResult,
  ToolResult,
  WorkspaceFacts,
} from '../contract/activity';
import type { Message } from '../contract/message';
import { MEMO } from '../contract/names';
import { addedRefs } from '../conversation/conversation';
import type { Tail } from '../conversation/ending';
import type { ActivityFact, RunFacts } from './facts';
import { callBlocks, createFold, type CallResult, type Fold, type Lookup } from './fold';

/** One model call as history tells it. */
export interface ModelCallFact {
  readonly turn: number;
  readonly activity: ActivityFact;
  readonly input: CallModelInput;
  readonly result?: CallModelResult;
}

/** Where in the conversation a window is asked for. */
export type WindowQuery = Pick<CallModelInput, 'turn' | 'after' | 'added'>;

/** The model calls of a run in order. */
export function modelCalls(facts: RunFacts): ModelCallFact[] {
  return [...facts.activities.values()]
    .filter(({ activityId }) => activityId.startsWith('model-'))
    .map((activity) => {
      const input = activity.input as CallModelInput;
      const result = activity.result as CallModelResult | undefined;
      return { turn: input.turn, activity, input, ...(result === undefined ? {} : { result }) };
    });
}

/** Entry 0 of the conversation. */
export function workspaceFacts(facts: RunFacts): WorkspaceFacts | null {
  const prepared = facts.activities.get('prepare')?.result as PrepareResult | undefined;
  return prepared?.facts ?? facts.carried?.facts ?? null;
}

/**
 * The transcript of a run: the window it was handed, then what each model call added and answered, then the tail. A live
 * run's tail is provisional.
 * @throws HistoryGap
 */
export function transcript(facts: RunFacts): Message[] {
  const calls = modelCalls(facts);
  const fold = foldCalls(facts, calls);
  fold.add(tailRefs(facts, calls));
  return [...fold.messages];
}

/**
 * What one model call is given: the transcript up to and with what it adds.
 * @throws HistoryGap
 */
export function windowOf(facts: RunFacts, input: WindowQuery): Message[] {
  const fold = foldCalls(
    facts,
    modelCalls(facts).filter(({ turn }) => turn < input.turn),
  );
  fold.add(input.added);
  return [...fold.window()];
}

/** References of a run lead into its own history, or into the conversation that it was handed. */
function historyLookup(facts: RunFacts): Lookup {
  return {
    task: facts.input.task,
    message: (id) => {
      const envelope = facts.envelopes.get(id);
      return envelope === undefined ? carriedMessage(facts, id) : (envelope.body.text ?? '');
    },
    result: (activityId, id) => {
      const result = facts.activities.get(activityId)?.result as ToolResult | undefined;
      return result?.id === id ? result : carriedResult(facts, id);
    },
    head: ({ compacted, activity }) => {
      const result = facts.activities.get(activity)?.result as SummarizeResult | undefined;
      if (result?.id === compacted && result.head !== null) return result.head;
      const handedOver = facts.carried?.pending.some(({ ref }) => 'compacted' in ref && ref.compacted === compacted);
      return handedOver === true ? 'carried' : undefined;
    },
  };
}

function carriedMessage({ carried }: RunFacts, id: string): string | undefined {
  const taken = carried?.pending.find(({ ref }) => 'message' in ref && ref.message === id);
  return taken?.block?.type === 'text' ? taken.block.text : undefined;
}

function carriedResult({ carried }: RunFacts, id: string): CallResult | undefined {
  for (const { call, settled } of carried?.calls ?? []) {
    if (settled === undefined || !('id' in settled.ref) || settled.ref.id !== id) continue;
    const { content, is_error: isError } = settled.block;
    return { call, message: content, status: isError === true ? 'failed' : 'success' };
  }
  return undefined;
}

function foldCalls(facts: RunFacts, calls: readonly ModelCallFact[]): Fold {
  const carried = facts.carried;
  const open = carried?.calls.map(({ call, plan }) => ({ call, blockId: plan.blockId })) ?? [];
  const fold = createFold(historyLookup(facts), carried?.window ?? [], open);
  for (const { input, result, turn } of calls) {
    // Without an answer nothing was said: what the call would have added is the tail.
    if (result === undefined) continue;
    fold.add(input.added);
    fold.answer(result.message, callBlocks(turn, result.calls));
  }
  return fold;
}

/**
 * The tail of a closed run stands in its memo; a live run's is what its open model call adds, or the results that are
 * there already. A run that was continued handed its tail to the next one.
 */
function tailRefs(facts: RunFacts, calls: readonly ModelCallFact[]): readonly AddedRef[] {
  if (facts.close?.status === 'continued_as_new') return [];
  const tail = facts.memo[MEMO.tail] as Tail | undefined;
  if (tail !== undefined) return tail.added;
  const last = calls[calls.length - 1];
  if (last !== undefined && last.result === undefined) return last.input.added;
  const carried = last === undefined ? facts.carried : undefined;
  const open = last?.result?.calls.map(({ n }) => `${String(last.turn)}.${String(n)}`) ?? [];
  const results = [...open, ...(carried?.calls.map(({ call }) => call) ?? [])].flatMap((call): AddedRef[] => {
    const result = facts.activities.get(`tool-${call}`)?.result as ToolResult | undefined;
    return result === undefined ? [] : [{ activity: `tool-${result.call}`, id: result.id }];
  });
  return carried === undefined ? results : [...results, ...addedRefs(carried)];
}
