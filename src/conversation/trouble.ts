import { BLANK_ANSWER, type AssistantMessage } from '../contract/message';
import { assistantText } from './compose-message';

/** Why an answer brings nothing forward: it was cut off, or it says and asks for nothing. */
export type Trouble = 'cut' | 'blank';

export function troubleOf(stopReason: string, message: AssistantMessage | undefined): Trouble | undefined {
  if (stopReason === 'max_tokens' || stopReason === 'model_context_window_exceeded') return 'cut';
  if (message?.content.some(({ type }) => type === 'tool_use') === true) return undefined;
  const text = assistantText(message).trim();
  return text === '' || text === BLANK_ANSWER ? 'blank' : undefined;
}
