import type { FailureClass } from '../contract/failure';
import { TOOLS } from '../contract/names';
import type { RunInput } from '../contract/run-input';
import type { RunError } from '../contract/result-document';
import { nextBatch } from './batches';
import { compactionOf } from './compaction';
import { lastAssistant } from './compose-message';
import type { CallState, Conversation } from './conversation';
import { cutText } from './fit';
import { exceededLimit, MAX_ERROR_BYTES } from './limits';
import { REPEATED, REPEATS_END, REPEATS_TOLD, repeatsOf } from './repeats';
import { troubleOf } from './trouble';

/** What the loop does next. */
export type Next =
  | { readonly do: 'callModel' }
  /** The window is nearly full: everything before the message `keepFrom` becomes a summary. */
  | { readonly do: 'compact'; readonly keepFrom: string }
  | { readonly do: 'runBatch'; readonly calls: readonly CallState[] }
  | ({ readonly do: 'nudge' } & Nudge)
  | { readonly do: 'waitForMessage' }
  | { readonly do: 'end'; readonly error: RunError | null };

/** The answer cannot be used as it is: settle its calls with `results`, tell the model `note`, and ask again. */
export interface Nudge {
  readonly kind: NudgeKind;
  readonly results: string;
  readonly note: string;
}

type NudgeKind = 'cut' | 'cutInCall' | 'blank' | 'repeated' | 'unstructured';

/**
 * Which rules a run follows. A run that began under older ones keeps them: its history must replay.
 * 2: summaries, the end of a run that repeats itself.
 */
export type Rules = 1 | 2;

/** Nudges in a row before the run ends: the same trouble again and again is no progress. */
const MAX_NUDGES = 3;
/** Answers that do not satisfy the output schema before the run ends. */
const MAX_OUTPUT_TRIES = 5;

const CUT = 'Not run: the answer was cut off at its length limit, so this call may be incomplete.';

const NUDGES: Readonly<Record<NudgeKind, Omit<Nudge, 'kind'>>> = {
  cut: {
    results: CUT,
    note: 'Your answer was cut off at its length limit. Continue; split large inputs into several smaller calls.',
  },
  cutInCall: {
    results: CUT,
    note: 'Your answer was cut off at its length limit in the middle of a call, which was not run. Make the call again; there is room for more now.',
  },
  blank: {
    results: '',
    note: 'Your last answer was empty. Continue with the task, or say in a sentence what you did.',
  },
  repeated: { results: '', note: REPEATED },
  unstructured: {
    results: '',
    note: `The answer of this task has to be given by a call of ${TOOLS.submit}, in the form that its schema asks for. Call it now.`,
  },
};

/** The whole policy of the loop. Pure: the same conversation, input, time and rules give the same step. */
export function decideNext(conversation: Conversation, input: RunInput, now: number, rules: Rules = 2): Next {
  const step = { conversation, input, now, rules };
  if (conversation.stopReason === null) return askModel(step);
  const settled = conversation.calls.every((call) => call.settled !== undefined);
  if (settled && conversation.structured !== null) return { do: 'end', error: null };
  if (settled && conversation.pending.some(({ block }) => block !== null)) return askModel(step);
  return afterAnswer(step, conversation.stopReason);
}

/** Each stop reason has its own way on; the stop reason is judged before anything in the answer is used. */
function afterAnswer(step: Step, stopReason: string): Next {
  const { conversation } = step;
  const trouble = troubleOf(stopReason, lastAssistant(conversation.window));
  switch (stopReason) {
    case 'tool_use':
    case 'end_turn':
    case 'stop_sequence':
      if (conversation.calls.length > 0) return afterCalls(step);
      return trouble === undefined ? atRest(step) : nudge(step, trouble);
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return nudge(step, conversation.calls.length > 0 && conversation.nudges === 0 ? 'cutInCall' : 'cut');
    case 'pause_turn':
      return afterCalls(step);
    case 'refusal':
      return fail('refused', `the model refused: ${conversation.stopDetail ?? 'no explanation was given'}`);
    default:
      return fail('internal', `the model stopped for a reason unknown here: ${stopReason}`);
  }
}

interface Step {
  readonly conversation: Conversation;
  readonly input: RunInput;
  readonly now: number;
  readonly rules: Rules;
}

function afterCalls(step: Step): Next {
  const { conversation } = step;
  const calls = nextBatch(conversation.calls);
  if (calls.length > 0) return { do: 'runBatch', calls };
  if (conversation.calls.some(({ settled }) => settled === undefined)) return { do: 'waitForMessage' };
  const repeats = step.rules === 1 ? 0 : repeatsOf(conversation);
  if (repeats >= REPEATS_END) {
    return fail('no_progress', `the model made the same call ${String(repeats)} times in a row with the same result`);
  }
  return repeats === REPEATS_TOLD ? { do: 'nudge', kind: 'repeated', ...NUDGES.repeated } : askModel(step);
}

function askModel({ conversation, input, now, rules }: Step): Next {
  const error = exceededLimit(conversation, input.limits, now);
  if (error !== undefined) return { do: 'end', error };
  if (conversation.outputTries >= MAX_OUTPUT_TRIES) {
    return fail(
      'output_invalid',
      `the model gave no answer that its schema accepts in ${String(MAX_OUTPUT_TRIES)} tries`,
    );
  }
  const compaction = rules === 1 ? undefined : compactionOf(conversation, input);
  if (compaction === undefined) return { do: 'callModel' };
  if (compaction !== 'exhausted') return { do: 'compact', ...compaction };
  return fail('context_window', "the conversation cannot be brought back under the model's window by a summary");
}

function nudge({ conversation }: Step, kind: NudgeKind): Next {
  if (conversation.nudges >= MAX_NUDGES) {
    const what = kind === 'blank' ? 'blank' : 'cut';
    return fail('no_progress', `the model's answer was ${what} ${String(MAX_NUDGES + 1)} times in a row`);
  }
  return { do: 'nudge', kind, ...NUDGES[kind] };
}

/** The model has said what it had to say. */
function atRest({ conversation, input }: Step): Next {
  if (input.kind === 'chat') return conversation.stopped ? finished(conversation) : { do: 'waitForMessage' };
  if (input.outputSchema === undefined || conversation.blockedBy !== null) return finished(conversation);
  return { do: 'nudge', kind: 'unstructured', ...NUDGES.unstructured };
}

function finished(conversation: Conversation): Next {
  const { blockedBy } = conversation;
  if (blockedBy === null) return { do: 'end', error: null };
  return fail('permission_needed', `${blockedBy.tool} ${blockedBy.summary} was denied: ${blockedBy.reason}`);
}

function fail(kind: FailureClass, message: string): Next {
  return { do: 'end', error: { class: kind, message: cutText(message, MAX_ERROR_BYTES), retryable: false } };
}
