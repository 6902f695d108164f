import type { Envelope, EnvelopeAnswer } from '../contract/envelope';
import type { RunInput } from '../contract/run-input';
import type { Conversation } from './conversation';
import { cutText } from './fit';
import { utf8Bytes } from './json-size';
import { MAX_TEXT_BYTES } from './limits';

/** Answers kept for senders that ask again. */
const MAX_SEEN = 500;
const KINDS: Readonly<Record<RunInput['kind'], readonly string[]>> = { task: ['message'], chat: ['message', 'stop'] };

/**
 * Why an envelope cannot be accepted by a run of this kind, in one sentence; `undefined` when it can. Judges unknown
 * values: callers are remote.
 */
export function refusalOf(envelope: unknown, run: RunInput['kind']): string | undefined {
  if (typeof envelope !== 'object' || envelope === null) return 'an envelope is an object';
  const { id, at, kind, body, by } = envelope as Partial<Record<keyof Envelope, unknown>>;
  if (typeof id !== 'string' || id === '' || id.length > 100) return 'an envelope needs an id of 1 to 100 characters';
  if (typeof at !== 'number' || !Number.isFinite(at)) return 'an envelope needs a time in milliseconds';
  if (typeof by !== 'string' || by.length > 200) return 'an envelope says who sent it';
  if (typeof kind !== 'string') return 'an envelope names its kind';
  if (!KINDS[run].includes(kind)) return `a ${run} does not take input of kind ${cutText(kind, 100)}`;
  return kind === 'message' ? textRefusal(body) : undefined;
}

function textRefusal(body: unknown): string | undefined {
  const text = typeof body === 'object' && body !== null && 'text' in body ? body.text : undefined;
  if (typeof text !== 'string' || text.trim() === '') return 'the message is empty';
  const bytes = utf8Bytes(text);
  if (bytes > MAX_TEXT_BYTES) {
    return `the message has ${String(bytes)} bytes; at most ${String(MAX_TEXT_BYTES)} are taken. Put it into a file of the workspace`;
  }
  return undefined;
}

/** A person has ended the chat: what comes later is not taken in. */
export function isStopped({ stopped, queue }: Conversation): boolean {
  return stopped || queue.some(({ kind }) => kind === 'stop');
}

/** Queues an envelope once. The same id again gets the answer of the first time. */
export function receive(
  conversation: Conversation,
  envelope: Envelope,
): { readonly conversation: Conversation; readonly answer: EnvelopeAnswer } {
  const known = conversation.seen.find(({ id }) => id === envelope.id);
  if (known !== undefined) return { conversation, answer: { ...known, status: 'duplicate' } };
  const queue = [...conversation.queue, envelope];
  const answer: EnvelopeAnswer = {
    id: envelope.id,
    status: 'queued',
    place: queue.length,
    detail: 'taken in at the next turn',
  };
  return { conversation: { ...conversation, queue, seen: [...conversation.seen, answer].slice(-MAX_SEEN) }, answer };
}

/** Empties the queue. Sorted by (at, id): the order of arrival is not the same in a replay after a reset. */
export function drain(conversation: Conversation): {
  readonly conversation: Conversation;
  readonly envelopes: readonly Envelope[];
} {
  if (conversation.queue.length === 0) return { conversation, envelopes: [] };
  const envelopes = [...conversation.queue].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  return { conversation: { ...conversation, queue: [] }, envelopes };
}
