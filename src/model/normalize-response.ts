import type { AssistantBlock } from '../contract/message';
import { chooseToolCallId } from './tool-call-id';
import { toWellFormed, toWellFormedValue } from './well-formed';

/**
 * What of an answer is recorded: blank text is dropped, strings are made well-formed (thinking and unknown blocks stay
 * as they came), and each call has an id that is well-formed, unique in the message and not in `usedIds` (those of the
 * window). Thinking that nothing came of, at the end of an answer that was cut, goes: no endpoint takes it back. An
 * answer of nothing but blanks becomes `[]`.
 */
export function normalizeResponse(
  content: readonly AssistantBlock[],
  messageId: string,
  usedIds: ReadonlySet<string>,
): AssistantBlock[] {
  const taken = new Set(usedIds);
  let calls = 0;
  const kept: AssistantBlock[] = [];
  for (const block of content) {
    if (block.type === 'text') {
      if (block.text.trim() !== '') kept.push({ ...block, text: toWellFormed(block.text) });
    } else if (block.type === 'tool_use') {
      calls += 1;
      const id = chooseToolCallId(block.id, { messageId, n: calls }, taken);
      taken.add(id);
      kept.push({ ...block, id, name: toWellFormed(block.name), input: toWellFormedValue(block.input) });
    } else {
      kept.push(block);
    }
  }
  return kept.slice(0, kept.findLastIndex(({ type }) => !type.endsWith('thinking')) + 1);
}
