import type { AssistantMessage, Message, ToolResultBlock, UserBlock, UserMessage } from '../contract/message';

/**
 * The one user message between two assistant messages: results first, in the order of the calls they answer, then
 * everything else as it came. Workflow and readers of history both build it here, so they cannot differ.
 * @returns `undefined` when there is nothing to say.
 */
export function composeUserMessage(
  previous: AssistantMessage | undefined,
  blocks: readonly UserBlock[],
): UserMessage | undefined {
  if (blocks.length === 0) return undefined;
  const order = callOrder(previous);
  const results = blocks.filter(isResult).sort((a, b) => position(order, a) - position(order, b));
  return { role: 'user', content: [...results, ...blocks.filter((block) => !isResult(block))] };
}

/** The last assistant message of a window. */
export function lastAssistant(messages: readonly Message[]): AssistantMessage | undefined {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role === 'assistant') return message;
  }
  return undefined;
}

/** The text blocks of an assistant message, joined by blank lines. */
export function assistantText(message: AssistantMessage | undefined): string {
  if (message === undefined) return '';
  return message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
}

function isResult(block: UserBlock): block is ToolResultBlock {
  return block.type === 'tool_result';
}

function callOrder(message: AssistantMessage | undefined): Map<unknown, number> {
  const calls = message?.content.filter((block) => block.type === 'tool_use') ?? [];
  return new Map(calls.map((block, index) => [block['id' as keyof typeof block], index]));
}

function position(order: ReadonlyMap<unknown, number>, block: ToolResultBlock): number {
  return order.get(block.tool_use_id) ?? order.size;
}
