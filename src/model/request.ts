import type { Message, UserBlock } from '../contract/message';
import { PortError } from '../contract/port-error';
import { isOpaque, toRawOpaque } from './assistant-block';
import type { ModelRequest, ToolDefinition } from './port';
import type { CacheMark, WireMessage, WireRequest, WireText, WireTool, WireToolResult } from './wire';
import { toWellFormed, toWellFormedValue } from './well-formed';
import { checkWindow } from './window-check';
import type { WindowRule } from './window-check';
import { repairWindow } from './window-repair';

const CACHE_MARK: CacheMark = { type: 'ephemeral' };
/** The Messages API refuses bodies over 32 MB. */
const MAX_REQUEST_CHARS = 31_000_000;

export interface PreparedRequest {
  readonly body: WireRequest;
  /** Rules that the window broke before it was repaired; empty for a sound window. */
  readonly repaired: readonly WindowRule[];
}

/**
 * Checks the window, repairs it once if need be, and makes the body from it. Throws `PortError` `invalid_request` if
 * the window cannot be repaired and `context_window` if the body is larger than any endpoint takes.
 */
export function prepareRequest(request: ModelRequest): PreparedRequest {
  const broken = checkWindow(request.messages);
  const messages = broken.length === 0 ? request.messages : repairWindow(request.messages);
  const left = broken.length === 0 ? [] : checkWindow(messages);
  if (left.length > 0) {
    const rules = [...new Set(left.map((violation) => violation.rule))].join(', ');
    throw new PortError({
      class: 'invalid_request',
      retryable: false,
      detail: `The conversation cannot be sent: it breaks the rules of the Messages API (${rules}) beyond repair.`,
    });
  }
  const body = buildRequest({ ...request, messages });
  if (JSON.stringify(body).length > MAX_REQUEST_CHARS) {
    throw new PortError({
      class: 'context_window',
      retryable: false,
      detail: 'The conversation is larger than 31 MB: no endpoint takes a request of that size.',
    });
  }
  return { body, repaired: [...new Set(broken.map((violation) => violation.rule))] };
}

/**
 * The request body for a sound window. Pure and stable: the same tools, system prompt and earlier messages give the
 * same bytes, but for the cache marks, which stand at the ends of tools, system and the last two user messages.
 */
function buildRequest(request: ModelRequest): WireRequest {
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    ...(request.system.trim() === ''
      ? {}
      : { system: [{ type: 'text', text: toWellFormed(request.system), cache_control: CACHE_MARK }] }),
    ...(request.tools.length === 0 ? {} : { tools: markLast(request.tools.map(toWireTool)) }),
    messages: toWireMessages(request.messages),
    stream: true,
  };
}

function toWireMessages(messages: readonly Message[]): WireMessage[] {
  const users = messages.flatMap((message, index) => (message.role === 'user' ? [index] : []));
  // The mark on the last but one user message is where the call before wrote its cache entry: an endpoint looks only a
  // few blocks back from a mark, and a turn of many parallel calls is longer than that.
  const marked = new Set(users.slice(-2));
  return messages.map((message, index) => {
    if (message.role === 'assistant') return { role: 'assistant', content: message.content.map(toWireAssistantBlock) };
    const content = message.content.map(toWireUserBlock);
    return { role: 'user', content: marked.has(index) ? markLast(content) : content };
  });
}

function toWireAssistantBlock(block: Extract<Message, { role: 'assistant' }>['content'][number]) {
  if (isOpaque(block)) return toRawOpaque(block);
  if (block.type === 'text') return { type: 'text', text: block.text };
  return { type: 'tool_use', id: block.id, name: toWireName(block.name), input: toWireInput(block.input) };
}

function toWireUserBlock(block: UserBlock): WireText | WireToolResult {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'blob':
      return {
        type: 'text',
        text: `[${block.blob}: ${String(block.bytes)} bytes, ${block.digest}, kept on the host and not shown here]`,
      };
    case 'tool_result':
      return {
        type: 'tool_result',
        tool_use_id: block.tool_use_id,
        content: block.content,
        ...(block.is_error === true ? { is_error: true } : {}),
      };
  }
}

function toWireTool(tool: ToolDefinition): WireTool {
  const { properties, required, ...rest } = tool.inputSchema;
  return {
    name: tool.name,
    description: toWellFormed(tool.description),
    // Some compatible endpoints refuse a schema without these three.
    input_schema: { ...rest, type: 'object', properties: properties ?? {}, required: required ?? [] },
  };
}

/** A model may make up any name; what goes back must be one the API accepts, also for a tool that does not exist. */
function toWireName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 128) || 'unnamed';
}

/** The API takes objects only; the text of an input that was no JSON is kept as a string in the transcript. */
function toWireInput(input: unknown): unknown {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  return { invalid_input: toWellFormedValue(input) };
}

function markLast<T extends WireText | WireToolResult | WireTool>(items: readonly T[]): T[] {
  return items.map((item, index) => (index === items.length - 1 ? { ...item, cache_control: CACHE_MARK } : item));
}
