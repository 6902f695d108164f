import type { AssistantMessage, Message, UserMessage } from '../contract/message';
import { isToolCallId } from './tool-call-id';
import { isWellFormedValue } from './well-formed';

export type WindowRule =
  | 'empty_window'
  | 'first_not_user'
  | 'adjacent_users'
  | 'empty_message'
  | 'blank_block'
  | 'ill_formed'
  | 'bad_id'
  | 'duplicate_id'
  | 'missing_result'
  | 'orphan_result'
  | 'results_not_first';

export interface WindowViolation {
  readonly rule: WindowRule;
  /** Position in the window, from 0. */
  readonly message: number;
}

/**
 * The invariants an endpoint insists on: each call is answered exactly once, in the very next user message, results
 * first; call ids are well-formed and unique; nothing is blank or ill-formed Unicode. `[]` means the window may be sent.
 */
export function checkWindow(messages: readonly Message[]): WindowViolation[] {
  const found: WindowViolation[] = [];
  const ids = new Set<string>();
  if (messages.length === 0) found.push({ rule: 'empty_window', message: 0 });
  if (messages[0]?.role === 'assistant') found.push({ rule: 'first_not_user', message: 0 });
  messages.forEach((message, index) => {
    const report = (rule: WindowRule) => found.push({ rule, message: index });
    const before = messages[index - 1];
    if (message.content.length === 0) report('empty_message');
    if (!isWellFormedValue(message.content)) report('ill_formed');
    if (message.role === 'assistant') {
      checkAssistant(message, ids, report);
      if (callIds(message).length > 0 && messages[index + 1]?.role !== 'user') report('missing_result');
    } else {
      if (before?.role === 'user') report('adjacent_users');
      checkUser(message, before?.role === 'assistant' ? callIds(before) : [], report);
    }
  });
  return found;
}

function checkAssistant(message: AssistantMessage, ids: Set<string>, report: (rule: WindowRule) => void): void {
  for (const block of message.content) {
    if (block.type === 'text' && isBlank(block.text)) report('blank_block');
    if (block.type !== 'tool_use') continue;
    if (!isToolCallId(block.id)) report('bad_id');
    if (ids.has(block.id)) report('duplicate_id');
    ids.add(block.id);
  }
}

function checkUser(message: UserMessage, expected: readonly string[], report: (rule: WindowRule) => void): void {
  const open = new Set(expected);
  let otherSeen = false;
  for (const block of message.content) {
    if (block.type !== 'tool_result') {
      otherSeen = true;
      if (block.type === 'text' && isBlank(block.text)) report('blank_block');
      continue;
    }
    if (otherSeen) report('results_not_first');
    if (isBlank(block.content)) report('blank_block');
    if (!open.delete(block.tool_use_id)) report('orphan_result');
  }
  if (open.size > 0) report('missing_result');
}

/** Ids of the calls in a message, in order. */
function callIds(message: AssistantMessage): string[] {
  return message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
