import type {
  AssistantBlock,
  AssistantMessage,
  Message,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
  UserMessage,
} from '../contract/message';
import { isOpaque } from './assistant-block';
import { chooseToolCallId } from './tool-call-id';
import { isWellFormedValue, toWellFormed, toWellFormedValue } from './well-formed';

const NO_RESULT = 'No result was recorded for this call. It is not known whether it ran: look before you repeat it.';
const NO_OUTPUT = '(no output)';
const EMPTY_MESSAGE = '(empty message)';

/**
 * The one repair of a window that breaks the invariants. Defined and total: blank blocks go, text becomes well-formed,
 * empty assistant messages go, adjacent user messages become one, calls get unique ids, and each call gets its result
 * (an error result where none was recorded) in the next message; results without a call go. What it cannot mend: a
 * window that is empty or begins with an assistant message.
 */
export function repairWindow(messages: readonly Message[]): Message[] {
  const joined = joinUsers(messages.map(cleanMessage).filter((m) => m.role === 'user' || m.content.length > 0));
  const taken = new Set<string>();
  const repaired: Message[] = [];
  let open: ToolUseBlock[] = [];
  let renamed = new Map<ToolUseBlock, string>();
  const answerOpen = (user: UserMessage) => {
    repaired.push(withPlaceholder({ role: 'user', content: pairResults(open, renamed, user.content) }));
    open = [];
  };
  for (const message of joined) {
    if (message.role === 'user') {
      answerOpen(message);
      continue;
    }
    if (open.length > 0) answerOpen({ role: 'user', content: [] });
    open = message.content.filter((block) => block.type === 'tool_use');
    renamed = chooseIds(message, open, taken);
    repaired.push(renameCalls(message, renamed));
  }
  if (open.length > 0) answerOpen({ role: 'user', content: [] });
  return repaired;
}

function chooseIds(message: AssistantMessage, calls: readonly ToolUseBlock[], taken: Set<string>) {
  const ids = new Map<ToolUseBlock, string>();
  calls.forEach((call, index) => {
    const id = chooseToolCallId(call.id, { messageId: message.id, n: index + 1 }, taken);
    taken.add(id);
    ids.set(call, id);
  });
  return ids;
}

function renameCalls(message: AssistantMessage, ids: ReadonlyMap<ToolUseBlock, string>): AssistantMessage {
  const content = message.content.map((block) =>
    block.type === 'tool_use' ? { ...block, id: ids.get(block) ?? block.id } : block,
  );
  return { ...message, content };
}

/** Results in the order of the calls, paired by the recorded id and, where calls share one, by position; then the rest. */
function pairResults(
  calls: readonly ToolUseBlock[],
  ids: ReadonlyMap<ToolUseBlock, string>,
  content: readonly UserBlock[],
): UserBlock[] {
  const results = content.filter((block) => block.type === 'tool_result');
  const paired = calls.map((call): ToolResultBlock => {
    const id = ids.get(call) ?? call.id;
    const at = results.findIndex((result) => result.tool_use_id === call.id);
    const [result] = at < 0 ? [] : results.splice(at, 1);
    return result === undefined
      ? { type: 'tool_result', tool_use_id: id, content: NO_RESULT, is_error: true }
      : { ...result, tool_use_id: id };
  });
  return [...paired, ...content.filter((block) => block.type !== 'tool_result')];
}

function joinUsers(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    if (message.role === 'user' && before?.role === 'user') {
      joined[joined.length - 1] = { role: 'user', content: [...before.content, ...message.content] };
    } else {
      joined.push(message);
    }
  }
  return joined;
}

function withPlaceholder(message: UserMessage): UserMessage {
  return message.content.length > 0 ? message : { role: 'user', content: [{ type: 'text', text: EMPTY_MESSAGE }] };
}

function cleanMessage(message: Message): Message {
  return message.role === 'assistant'
    ? { ...message, content: message.content.flatMap(cleanAssistantBlock) }
    : { ...message, content: message.content.flatMap(cleanUserBlock) };
}

function cleanAssistantBlock(block: AssistantBlock): AssistantBlock[] {
  // An opaque block may not be changed, only left out.
  if (isOpaque(block)) return isWellFormedValue(block) ? [block] : [];
  const { extra, ...plain } = block;
  const kept = extra === undefined || !isWellFormedValue(extra) ? plain : block;
  if (kept.type === 'text') return kept.text.trim() === '' ? [] : [{ ...kept, text: toWellFormed(kept.text) }];
  return [{ ...kept, name: toWellFormed(kept.name), input: toWellFormedValue(kept.input) }];
}

function cleanUserBlock(block: UserBlock): UserBlock[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ ...block, text: toWellFormed(block.text) }];
    case 'tool_result':
      return [{ ...block, content: block.content.trim() === '' ? NO_OUTPUT : toWellFormed(block.content) }];
    case 'blob':
      return [{ ...block, blob: toWellFormed(block.blob), digest: toWellFormed(block.digest) }];
  }
}
