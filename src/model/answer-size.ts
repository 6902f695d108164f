import type { AssistantBlock } from '../contract/message';
import { PortError } from '../contract/port-error';

/** An assistant message has to fit into history. Bytes of its JSON. */
export const MAX_ANSWER_BYTES = 256 * 1024;

/** Throws `PortError` `message_too_large` for an answer that could not be recorded. */
export function checkAnswerSize(content: readonly AssistantBlock[]): void {
  if (Buffer.byteLength(JSON.stringify(content)) > MAX_ANSWER_BYTES) throw answerTooLarge();
}

export function answerTooLarge(): PortError {
  return new PortError({
    class: 'message_too_large',
    retryable: false,
    detail: "The model's answer is larger than 256 KB and cannot be recorded. Ask for the work in smaller steps.",
  });
}
