import type { FailureClass } from '../contract/failure';
import type { RunInput } from '../contract/run-input';
import type { RunError } from '../contract/result-document';
import { nextBatch } from './batches';
import { lastAssistant } from './compose-message';
import type { CallState, Conversation } from './conversation';
import { cutText } from './fit';
import { exceededLimit, MAX_ERROR_BYTES } from './limits';
import { troubleOf, type Trouble } from './trouble';

/** What the loop does next. */
export type Next =
  | { readonly do: 'callModel' }
  | { readonly do: 'runBatch'; readonly calls: readonly CallState[] }
  /** The answer cannot be used as it is: settle its calls with `results`, tell the model `note`, and ask again. */
  | { readonly do: 'nudge'; readonly results: string; readonly note: string }
  | { readonly do: 'waitForMessage' }
  | { readonly do: 'end'; readonly error: RunError | null };

/** Nudges in a row before the run ends: the same trouble again and again is no progress. */
const MAX_NUDGES = 3;

const NUDGES = {
  cut: {
    results: 'Not run: the answer was cut off at its length limit, so this call may be incomplete.',
    note: 'Your answer was cut off at its length limit. Continue; split large inputs into several smaller calls.',
  },
  blank: {
    results: '',
    note: 'Your last answer was empty. Continue with the task, or say in a sentence what you did.',
  },
} as const;

/** The whole policy of the loop. Pure: the same conversation, input and time give the same step. */
export function decideNext(conversation: Conversation, input: RunInput, now: number): Next {
  if (conversation.stopReason === null) return askModel(conversation, input, now);
  const settled = conversation.calls.every((call) => call.settled !== undefined);
  if (settled && conversation.pending.length > 0) return askModel(conversation, input, now);
  const trouble = troubleOf(conversation.stopReason, lastAssistant(conversation.window));
  switch (conversation.stopReason) {
    case 'tool_use':
    case 'end_turn':
    case 'stop_sequence':
      if (conversation.calls.length > 0) return afterCalls(conversation, input, now);
      if (trouble !== undefined) return nudge(conversation, trouble);
      return atRest(conversation, input);
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return nudge(conversation, 'cut');
    case 'pause_turn':
      return afterCalls(conversation, input, now);
    case 'refusal':
      return fail('refused', `the model refused: ${conversation.stopDetail ?? 'no explanation was given'}`);
    default:
      return fail('internal', `the model stopped for a reason unknown here: ${conversation.stopReason}`);
  }
}

function afterCalls(conversation: Conversation, input: RunInput, now: number): Next {
  const calls = nextBatch(conversation.calls);
  if (calls.length > 0) return { do: 'runBatch', calls };
  const open = conversation.calls.some(({ settled }) => settled === undefined);
  return open ? { do: 'waitForMessage' } : askModel(conversation, input, now);
}

function askModel(conversation: Conversation, input: RunInput, now: number): Next {
  const error = exceededLimit(conversation, input.limits, now);
  return error === undefined ? { do: 'callModel' } : { do: 'end', error };
}

function nudge(conversation: Conversation, kind: Trouble): Next {
  if (conversation.nudges >= MAX_NUDGES) {
    return fail('no_progress', `the model's answer was ${kind} ${String(MAX_NUDGES + 1)} times in a row`);
  }
  return { do: 'nudge', ...NUDGES[kind] };
}

/** The model has said what it had to say. */
function atRest(conversation: Conversation, { kind }: RunInput): Next {
  return kind === 'chat' && !conversation.stopped ? { do: 'waitForMessage' } : finished(conversation);
}

function finished(conversation: Conversation): Next {
  const { blockedBy } = conversation;
  if (blockedBy === null) return { do: 'end', error: null };
  return fail('permission_needed', `${blockedBy.tool} ${blockedBy.summary} was denied: ${blockedBy.reason}`);
}

function fail(kind: FailureClass, message: string): Next {
  return { do: 'end', error: { class: kind, message: cutText(message, MAX_ERROR_BYTES), retryable: false } };
}
