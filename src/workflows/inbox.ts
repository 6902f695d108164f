import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Envelope, EnvelopeAnswer } from '../contract/envelope';
import { CONVERSATION_QUERY, FAILURE, INBOX_SIGNAL, SEND_UPDATE, STATUS_QUERY } from '../contract/names';
import type { RunInput } from '../contract/run-input';
import type { RunStatus } from '../contract/status';
import type { Conversation } from '../conversation/conversation';
import { isStopped, receive, refusalOf } from '../conversation/inbox';

const sendUpdate = defineUpdate<EnvelopeAnswer, [Envelope]>(SEND_UPDATE);
const inboxSignal = defineSignal<[Envelope]>(INBOX_SIGNAL);
const statusQuery = defineQuery<RunStatus>(STATUS_QUERY);
const conversationQuery = defineQuery<Conversation>(CONVERSATION_QUERY);

/** What the handlers may see and change of a run: they queue and answer, the loop alone takes in. */
export interface InboxOwner {
  readonly input: RunInput;
  conversation: Conversation;
  /** The run is past taking anything in. */
  closing: boolean;
  status(): RunStatus;
  /** Length of the history when the last update was answered. */
  answeredAt: number;
}

const ENDING = 'the run is ending, it takes no more input';

/** Registers all handlers; call it before the first await, so that a buffered input finds them. */
export function openInbox(owner: InboxOwner): void {
  setHandler(
    sendUpdate,
    (envelope) => {
      const received = receive(owner.conversation, envelope);
      owner.conversation = received.conversation;
      owner.answeredAt = workflowInfo().historyLength;
      return received.answer;
    },
    {
      description: 'A message for the conversation; taken in at the next turn.',
      validator: (envelope) => {
        const isEnding = owner.closing || isStopped(owner.conversation);
        const refusal = isEnding ? ENDING : refusalOf(envelope, owner.input.kind);
        if (refusal !== undefined) throw ApplicationFailure.nonRetryable(refusal, FAILURE.badMessage);
      },
    },
  );
  setHandler(
    inboxSignal,
    (envelope) => {
      // A signal cannot be refused: what is not understood is dropped here and stays readable in history.
      if (refusalOf(envelope, owner.input.kind) === undefined)
        owner.conversation = receive(owner.conversation, envelope).conversation;
    },
    { description: 'The same as the update `send`, for when no worker runs.' },
  );
  setHandler(statusQuery, () => owner.status(), { description: 'What the run does or waits for now.' });
  setHandler(conversationQuery, () => owner.conversation, {
    description: 'The conversation as one value. For a look inside; readers use history, which needs no worker.',
  });
}
