import type { AssistantMessage, ToolResultBlock, ToolUseBlock } from '../contract/message';
import type { Conversation } from './conversation';

/** The model is told of it. */
export const REPEATS_TOLD = 3;
/** The run ends. */
export const REPEATS_END = 5;

export const REPEATED =
  'You have made the same call three times in a row and got the same result each time. It will not change by itself: do something else, or say what is in the way. The run ends when it is made a fifth time.';

/**
 * How often in a row the model made the same calls and got the same results, the last time included; 0 without calls, or
 * while one of them has no result yet.
 */
export function repeatsOf({ calls, window }: Conversation): number {
  const results = calls.flatMap(({ settled }) => (settled === undefined ? [] : [settled.block]));
  if (calls.length === 0 || results.length < calls.length) return 0;
  const last = window[window.length - 1];
  if (last?.role !== 'assistant') return 0;
  const key = keyOf(last, results);
  let repeats = 1;
  for (let index = window.length - 3; index >= 0; index -= 2) {
    const asked = window[index];
    const answered = window[index + 1];
    if (asked?.role !== 'assistant' || answered?.role !== 'user') break;
    if (
      keyOf(
        asked,
        answered.content.filter((block) => block.type === 'tool_result'),
      ) !== key
    )
      break;
    repeats += 1;
  }
  return repeats;
}

/** Calls and results alone: what the model says beside them is no progress. */
function keyOf(message: AssistantMessage, results: readonly ToolResultBlock[]): string {
  const calls = message.content.filter((block): block is ToolUseBlock => block.type === 'tool_use');
  return JSON.stringify([
    calls.map(({ name, input }) => [name, input]),
    results.map(({ content, is_error: isError }) => [content, isError ?? false]),
  ]);
}
