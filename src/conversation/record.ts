import type { AddedRef, CallModelResult, PlannedCall, PrepareResult, ToolResult } from '../contract/activity';
import type { Envelope } from '../contract/envelope';
import type { AssistantMessage, Message, ToolResultBlock } from '../contract/message';
import { TOOLS } from '../contract/names';
import type { Denial } from '../contract/result-document';
import type { RunInput } from '../contract/run-input';
import type { Todo } from '../contract/todo';
import { composeUserMessage, lastAssistant } from './compose-message';
import type { CallState, Conversation, PendingBlock } from './conversation';
import { remember } from './compaction';
import type { Nudge } from './decide';
import { cutText, fit } from './fit';
import { jsonBytes } from './json-size';
import { MAX_INLINE_BYTES, MAX_TODOS_BYTES } from './limits';
import { troubleOf } from './trouble';
import { addCost, addSpent, addUsage, totalTokens } from './usage';

/** Entry 0 and the task open the transcript. */
export function recordPrepared(conversation: Conversation, result: PrepareResult, input: RunInput): Conversation {
  const opening: PendingBlock[] = [
    { ref: { prepared: result.id }, block: null },
    { ref: { task: true }, block: { type: 'text', text: input.task } },
  ];
  return {
    ...conversation,
    facts: result.facts,
    holdsWorkspace: true,
    pending: [...opening, ...conversation.pending],
  };
}

/** A person's messages go into the next user message, in the order given; `stop` ends a chat. */
export function recordEnvelopes(conversation: Conversation, envelopes: readonly Envelope[]): Conversation {
  const blocks = envelopes
    .filter(({ kind }) => kind === 'message')
    .map((envelope): PendingBlock => ({
      ref: { message: envelope.id },
      block: { type: 'text', text: envelope.body.text ?? '' },
    }));
  return {
    ...conversation,
    said: remember(
      conversation.said,
      envelopes.flatMap(({ kind, body }) => (kind === 'message' ? (body.text ?? '') : [])),
    ),
    stopped: conversation.stopped || envelopes.some(({ kind }) => kind === 'stop'),
    pending: [...conversation.pending, ...blocks],
  };
}

/** An answer cannot be used as it is: its open calls get a result, the model a short text of our own. */
export function recordNudge(conversation: Conversation, { kind, results, note }: Nudge): Conversation {
  const settled = settleOpenCalls(conversation, results);
  const block: PendingBlock = { ref: { note }, block: { type: 'text', text: note } };
  return {
    ...settled,
    ...(kind === 'unstructured' ? { outputTries: settled.outputTries + 1 } : { nudges: settled.nudges + 1 }),
    pending: [...settled.pending, block],
  };
}

/** What the model is asked next: the window and the user message that the pending parts make. */
export function messagesForModel(conversation: Conversation): Message[] {
  const blocks = [
    ...conversation.calls.flatMap(({ settled }) => (settled === undefined ? [] : [settled.block])),
    ...conversation.pending.flatMap(({ block }) => (block === null ? [] : [block])),
  ];
  const message = composeUserMessage(lastAssistant(conversation.window), blocks);
  return message === undefined ? [...conversation.window] : [...conversation.window, message];
}

/** The model answered: the pending parts become part of the window, its calls become the open ones. */
export function recordModel(conversation: Conversation, result: CallModelResult): Conversation {
  const turn = conversation.turn + 1;
  const before = addSpent(conversation, result.spent);
  const calls = result.calls.map((plan) => openCall(turn, plan, result.message));
  const window = [...messagesForModel(conversation), result.message];
  const settledByGate = calls.map((call) => gate(call));
  const denials = settledByGate.flatMap(({ denial }) => (denial === undefined ? [] : [denial]));
  return {
    ...conversation,
    turn,
    after: result.message.id,
    window,
    windowBytes: conversation.windowBytes + jsonBytes(window.slice(conversation.window.length)),
    contextTokens: totalTokens({ call: result.usage }),
    overflow: false,
    triesBefore: 0,
    compactions: { ...conversation.compactions, inARow: 0 },
    calls: settledByGate.map(({ call }) => call),
    pending: [],
    stopReason: result.stopReason,
    stopDetail: result.stopDetail ?? null,
    nudges: troubleOf(result.stopReason, result.message) === undefined ? 0 : conversation.nudges,
    usage: addUsage(before.usage, result.model, result.usage),
    costUsd: addCost(before.costUsd, result.costUsd),
    denials: [...conversation.denials, ...denials],
    blockedBy: denials[denials.length - 1] ?? conversation.blockedBy,
  };
}

/** The endpoint says that the window does not fit: it has to become smaller before the same call is made again. */
export function recordOverflow(conversation: Conversation): Conversation {
  return { ...conversation, overflow: true, triesBefore: conversation.triesBefore + 1 };
}

/** A tool ran; its result answers the call. */
export function recordTool(conversation: Conversation, result: ToolResult): Conversation {
  const ref: AddedRef = { activity: `tool-${result.call}`, id: result.id };
  const settled = settle(conversation, result.call, ref, result.message, result.status !== 'success');
  const changed = result.details?.filesChanged ?? [];
  const input = conversation.calls.find(({ call }) => call === result.call)?.input;
  return {
    ...settled,
    ...meaningOf(settled, result, input),
    blockedBy: result.status === 'success' && isBefore(settled.blockedBy, result.call) ? null : settled.blockedBy,
    filesChanged: [...new Set([...settled.filesChanged, ...changed])],
  };
}

/** Some tools are the model's way to tell the conversation something: their input counts, not what they do. */
function meaningOf(
  conversation: Conversation,
  { tool, status }: ToolResult,
  input: unknown,
): Partial<Pick<Conversation, 'structured' | 'outputTries' | 'todos'>> {
  if (tool === TOOLS.submit) {
    return status === 'success' ? { structured: { value: input } } : { outputTries: conversation.outputTries + 1 };
  }
  return tool === TOOLS.todo && status === 'success' ? { todos: todosOf(input) } : {};
}

/** The host has checked the form; the size is bounded here, where it becomes part of the value. */
function todosOf(input: unknown): readonly Todo[] {
  const { todos } = input as { readonly todos?: readonly Todo[] };
  return fit(todos ?? [], MAX_TODOS_BYTES);
}

/** Workflow code answers a call itself: denied, interrupted, cut, or its activity was lost. */
export function recordInline(conversation: Conversation, call: string, text: string): Conversation {
  const cut = cutText(text, MAX_INLINE_BYTES);
  return settle(conversation, call, { inline: { call, text: cut } }, cut, true);
}

/** Gives each call without a result one, so that no recorded state has an open call. */
export function settleOpenCalls(conversation: Conversation, text: string): Conversation {
  return conversation.calls
    .filter(({ settled }) => settled === undefined)
    .reduce((value, { call }) => recordInline(value, call, text), conversation);
}

/** Was the denial of a call before this one, in the order the model gave? Results of parallel calls come in any order. */
function isBefore(denial: Denial | null, call: string): boolean {
  if (denial === null) return false;
  const [turn, n] = placeOf(denial.call);
  const [laterTurn, laterN] = placeOf(call);
  return turn < laterTurn || (turn === laterTurn && n < laterN);
}

/** `<turn>.<n>` as numbers: as texts, the tenth call would come before the second. */
function placeOf(call: string): [turn: number, n: number] {
  const dot = call.indexOf('.');
  return [Number(call.slice(0, dot)), Number(call.slice(dot + 1))];
}

function settle(conversation: Conversation, call: string, ref: AddedRef, text: string, isError: boolean): Conversation {
  const calls = conversation.calls.map((state) =>
    state.call === call && state.settled === undefined
      ? { ...state, settled: { ref, block: resultBlock(state.plan.blockId, text, isError) } }
      : state,
  );
  return { ...conversation, calls };
}

/** A tool result as the model reads it. Shared with the readers of history. */
export function resultBlock(blockId: string, text: string, isError: boolean): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: blockId, content: text, ...(isError ? { is_error: true } : {}) };
}

function openCall(turn: number, plan: PlannedCall, message: AssistantMessage): CallState {
  const block = message.content.find(
    (candidate) => candidate.type === 'tool_use' && candidate['id' as never] === plan.blockId,
  );
  const given = block !== undefined && 'input' in block ? block.input : {};
  return { call: `${String(turn)}.${String(plan.n)}`, plan, input: plan.input ?? given, ask: 'none' };
}

/** A call that may not run gets its result at once. */
function gate(state: CallState): { readonly call: CallState; readonly denial?: Denial } {
  const { plan, call } = state;
  if (!plan.known) return { call: answered(state, plan.reason) };
  if (plan.verdict === 'allow') return { call: state };
  const denial: Denial = { call, tool: plan.name, summary: plan.summary, reason: plan.reason };
  const text =
    plan.verdict === 'deny'
      ? `Not run, denied: ${plan.reason}`
      : `Not run, it would need a person's approval, which cannot be given here: ${plan.reason}`;
  return { call: answered(state, text), denial };
}

function answered(state: CallState, text: string): CallState {
  const cut = cutText(text, MAX_INLINE_BYTES);
  const ref: AddedRef = { inline: { call: state.call, text: cut } };
  return { ...state, settled: { ref, block: resultBlock(state.plan.blockId, cut, true) } };
}
