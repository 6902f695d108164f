import fc from 'fast-check';
import type { CallModelInput, CallModelResult, PlannedCall, ToolResult } from '../../src/contract/activity';
import type { Message } from '../../src/contract/message';
import type { RunInput } from '../../src/contract/run-input';
import { addedRefs, openConversation, type CallState, type Conversation } from '../../src/conversation/conversation';
import { decideNext } from '../../src/conversation/decide';
import { resultDocument, tailOf } from '../../src/conversation/ending';
import { drain, receive } from '../../src/conversation/inbox';
import * as record from '../../src/conversation/record';
import type { HistoryEvent } from '../../src/transcript/decode-history';
import { answer, envelope, toolResult, workspaceFacts } from './conversation-parts';
import { createHistory, DELIVERIES, type Delivery, type SyntheticHistory } from './history-events';
import { runInput } from './run-input';

/** What happens in a run, drawn by fast-check. Turns beyond the list answer with a text. */
export interface RunScript {
  readonly kind: RunInput['kind'];
  readonly turns: readonly TurnScript[];
  readonly end: 'normal' | 'model_fails' | 'cancelled_in_batch' | 'terminated';
}

interface TurnScript {
  readonly text: string | null;
  readonly stopReason: 'usual' | 'max_tokens' | 'pause_turn';
  readonly calls: readonly CallScript[];
  /** Messages that arrive while the model answers. */
  readonly messages: readonly MessageScript[];
  /** Schedulings of the model call that no worker took. */
  readonly unserved: number;
  /** Right after the answer, or once all its calls have results. */
  readonly continueAsNew: 'never' | 'early' | 'late';
}

interface CallScript {
  readonly plan: Pick<PlannedCall, 'effect' | 'known' | 'verdict'>;
  readonly outcome: 'success' | 'failed' | 'need_confirm' | 'activity_fails' | 'worker_lost';
  /** Results of a batch come in this order. */
  readonly order: number;
}

interface MessageScript {
  readonly by: Delivery;
  readonly at: number;
  readonly twice: boolean;
}

const callScript: fc.Arbitrary<CallScript> = fc.record({
  plan: fc.record({
    effect: fc.constantFrom('read', 'read', 'write'),
    known: fc.constantFrom(true, true, true, false),
    verdict: fc.constantFrom('allow', 'allow', 'allow', 'ask', 'deny'),
  }),
  outcome: fc.constantFrom('success', 'success', 'failed', 'need_confirm', 'activity_fails', 'worker_lost'),
  order: fc.nat(9),
});

const turnScript: fc.Arbitrary<TurnScript> = fc.record({
  text: fc.constantFrom('Some words.', 'Others.', null),
  stopReason: fc.constantFrom('usual', 'usual', 'usual', 'max_tokens', 'pause_turn'),
  calls: fc.array(callScript, { maxLength: 5 }),
  messages: fc.array(fc.record({ by: fc.constantFrom(...DELIVERIES), at: fc.nat(3), twice: fc.boolean() }), {
    maxLength: 2,
  }),
  unserved: fc.constantFrom(0, 0, 0, 1, 2),
  continueAsNew: fc.constantFrom('never', 'never', 'never', 'early', 'late'),
});

export const runScript: fc.Arbitrary<RunScript> = fc.record({
  kind: fc.constantFrom('task', 'chat'),
  turns: fc.array(turnScript, { maxLength: 8 }),
  end: fc.constantFrom('normal', 'normal', 'model_fails', 'cancelled_in_batch', 'terminated'),
});

/** One thing that a reader of history, or a worker, sees of the run; in order. */
export type Moment =
  | { readonly kind: 'run'; readonly runId: string; readonly carried?: Conversation }
  | { readonly kind: 'event'; readonly runId: string; readonly event: HistoryEvent }
  | {
      readonly kind: 'asked';
      readonly runId: string;
      readonly input: CallModelInput;
      readonly messages: readonly Message[];
    }
  | {
      readonly kind: 'answered';
      readonly runId: string;
      readonly input: CallModelInput;
      readonly result: CallModelResult;
    }
  | { readonly kind: 'result'; readonly result: ToolResult }
  | { readonly kind: 'closed'; readonly runId: string; readonly conversation: Conversation };

export interface SimulatedRun {
  readonly input: RunInput;
  readonly moments: readonly Moment[];
}

/** Plays a script with the loop of the workflow, and writes the history that it would have. */
export function simulateRun(script: RunScript): SimulatedRun {
  const input = runInput({ kind: script.kind, limits: { maxTurns: 12, maxOutputTokens: 4_096, hostWaitMs: 60_000 } });
  const state = new Simulation(input, script);
  state.play();
  return { input, moments: state.moments };
}

class Simulation {
  readonly moments: Moment[] = [];
  private conversation: Conversation;
  private history: SyntheticHistory;
  private told = 0;
  private runs = 1;
  private messages = 0;
  private continuedAt = 0;

  constructor(
    private readonly input: RunInput,
    private readonly script: RunScript,
  ) {
    this.history = createHistory({ input });
    this.conversation = openConversation({ input, runId: 'run-1', now: 1_000 });
    this.moments.push({ kind: 'run', runId: this.runId });
  }

  private get runId(): string {
    return `run-${String(this.runs)}`;
  }

  private get turn(): TurnScript | undefined {
    return this.script.turns[this.conversation.turn - 1];
  }

  play(): void {
    this.prepare();
    for (;;) {
      this.tell();
      const drained = drain(this.conversation);
      this.conversation = record.recordEnvelopes(drained.conversation, drained.envelopes);
      if (this.mayContinueAsNew()) this.continueAsNew();
      const next = decideNext(this.conversation, this.input, 2_000);
      if (next.do === 'callModel') {
        if (!this.callModel()) return;
      } else if (next.do === 'runBatch') {
        if (!this.runBatch(next.calls)) return;
      } else if (next.do === 'nudge') {
        this.conversation = record.recordNudge(this.conversation, next);
      } else {
        this.close();
        return;
      }
    }
  }

  /** Events since the last time become moments. */
  private tell(): void {
    const { events } = this.history;
    for (const event of events.slice(this.told)) this.moments.push({ kind: 'event', runId: this.runId, event });
    this.told = events.length;
  }

  private prepare(): void {
    const prepared = { id: 'prepared-1', facts: workspaceFacts };
    this.history.scheduled('prepare', { seq: 1 }, '0 · prepare');
    this.history.completed('prepare', prepared);
    this.conversation = record.recordPrepared(this.conversation, prepared, this.input);
  }

  private mayContinueAsNew(): boolean {
    const when = this.turn?.continueAsNew ?? 'never';
    if (when === 'never' || this.continuedAt === this.conversation.turn) return false;
    return when === 'early' || this.conversation.calls.every(({ settled }) => settled !== undefined);
  }

  /** Quiet point: no activity in flight. */
  private continueAsNew(): void {
    this.continuedAt = this.conversation.turn;
    this.history.continuedAsNew();
    this.tell();
    const carried = this.conversation;
    this.runs += 1;
    this.told = 0;
    this.history = createHistory({ input: this.input, carried, firstRunId: 'run-1' });
    this.moments.push({ kind: 'run', runId: this.runId, carried });
    this.tell();
  }

  /** @returns false when the run is over. */
  private callModel(): boolean {
    const turn = this.conversation.turn + 1;
    const script = this.script.turns[turn - 1];
    const activityId = `model-${String(turn)}`;
    const isLast = this.script.turns.length === turn - 1;
    let input: CallModelInput | undefined;
    for (let seq = 1; seq <= (script?.unserved ?? 0) + 1; seq += 1) {
      if (input !== undefined) this.history.timedOut(activityId);
      input = this.modelInput(seq, turn);
      this.history.scheduled(activityId, input, `${String(turn)} · model`);
    }
    if (input === undefined) throw new Error('never scheduled');
    this.tell();
    this.moments.push({
      kind: 'asked',
      runId: this.runId,
      input,
      messages: record.messagesForModel(this.conversation),
    });
    this.history.started(activityId);
    for (const message of script?.messages ?? []) this.deliver(message);
    if (isLast && this.script.end === 'terminated') return this.terminate();
    if (isLast && this.script.end === 'model_fails') {
      this.history.failed(activityId, 'the endpoint is gone');
      this.close();
      return false;
    }
    const result = modelResult(turn, script);
    this.history.completed(activityId, result);
    this.tell();
    this.moments.push({ kind: 'answered', runId: this.runId, input, result });
    this.conversation = record.recordModel(this.conversation, result);
    return true;
  }

  private modelInput(seq: number, turn: number): CallModelInput {
    const { after } = this.conversation;
    return { seq, turn, after, added: addedRefs(this.conversation), maxOutputTokens: 4_096, triesBefore: 0 };
  }

  /** @returns false when the run is over. */
  private runBatch(batch: readonly CallState[]): boolean {
    const { turn } = this;
    const scripted = batch.map((state) => ({ state, call: turn?.calls[state.plan.n - 1] }));
    for (const { state } of scripted) {
      this.history.scheduled(`tool-${state.call}`, { seq: 1, call: state.call, input: state.input });
    }
    this.tell();
    const last = this.conversation.turn === this.script.turns.length;
    const cancelled = last && this.script.end === 'cancelled_in_batch';
    const inOrder = [...scripted].sort((a, b) => (a.call?.order ?? 0) - (b.call?.order ?? 0));
    inOrder.forEach(({ state, call }, index) => {
      // A cancel in the middle of a batch: the first result was there already.
      if (cancelled && index > 0) this.interrupt(state.call);
      else this.finishCall(state.call, call?.outcome ?? 'success');
      this.tell();
    });
    if (cancelled) this.close();
    return !cancelled;
  }

  private interrupt(call: string): void {
    this.history.cancelled(`tool-${call}`);
    this.conversation = record.recordInline(this.conversation, call, 'Interrupted.');
  }

  private finishCall(call: string, outcome: CallScript['outcome']): void {
    if (outcome === 'activity_fails' || outcome === 'worker_lost') {
      if (outcome === 'activity_fails') this.history.failed(`tool-${call}`, 'broken');
      else this.history.timedOut(`tool-${call}`);
      this.conversation = record.recordInline(this.conversation, call, `The call failed: ${outcome}`);
      return;
    }
    const result = toolResult(call, { status: outcome });
    this.history.started(`tool-${call}`);
    this.history.completed(`tool-${call}`, result);
    this.conversation = record.recordTool(this.conversation, result);
    this.moments.push({ kind: 'result', result });
  }

  private deliver({ by, at, twice }: MessageScript): void {
    this.messages += 1;
    const sent = envelope(`e${String(this.messages)}`, { at });
    for (let time = 0; time < (twice ? 2 : 1); time += 1) {
      this.history[by](sent);
      this.conversation = receive(this.conversation, sent).conversation;
    }
  }

  private terminate(): false {
    this.history.runTerminated();
    this.tell();
    this.moments.push({ kind: 'closed', runId: this.runId, conversation: this.conversation });
    return false;
  }

  private close(): void {
    this.conversation = record.settleOpenCalls(this.conversation, 'Not run.');
    const document = resultDocument(this.conversation, { error: null, workflowId: 'wf', now: 9_000 });
    this.history.memo({
      surehandResult: document,
      surehandTail: tailOf(this.conversation),
      surehandUnread: this.conversation.queue.map(({ id }) => id),
    });
    this.history.runCompleted(document);
    this.tell();
    this.moments.push({ kind: 'closed', runId: this.runId, conversation: this.conversation });
  }
}

function modelResult(turn: number, script: TurnScript | undefined): CallModelResult {
  if (script === undefined) return answer(turn);
  const plans = script.calls.map(({ plan }) => ({
    ...plan,
    ...(plan.known ? {} : { effect: 'write' as const }),
    reason: plan.known && plan.verdict === 'allow' ? '' : 'by the script',
  }));
  const blank = plans.length === 0 && script.text === null;
  const usual = answer(turn, { text: blank ? '(empty answer)' : script.text, calls: plans });
  return script.stopReason === 'usual' ? usual : { ...usual, stopReason: script.stopReason };
}
