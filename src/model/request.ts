import { STANDARD_PROFILE, type EndpointProfile } from '../contract/endpoint-profile';
import type { Message, UserBlock } from '../contract/message';
import { PortError } from '../contract/port-error';
import { isOpaque, toRawOpaque } from './assistant-block';
import { isRecord } from './json-record';
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
export function prepareRequest(request: ModelRequest, profile: EndpointProfile = STANDARD_PROFILE): PreparedRequest {
  const given = profile.thinking === 'drop' ? withoutThinking(request.messages) : request.messages;
  const broken = checkWindow(given);
  const messages = broken.length === 0 ? given : repairWindow(given);
  const left = broken.length === 0 ? [] : checkWindow(messages);
  if (left.length > 0) {
    const rules = [...new Set(left.map((violation) => violation.rule))].join(', ');
    throw new PortError({
      class: 'invalid_request',
      retryable: false,
      detail: `The conversation cannot be sent: it breaks the rules of the Messages API (${rules}) beyond repair.`,
    });
  }
  const body = buildRequest({ ...request, messages }, profile);
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
function buildRequest(request: ModelRequest, profile: EndpointProfile): WireRequest {
  const markLast = profile.caching ? withMark : unmarked;
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    ...(request.system.trim() === ''
      ? {}
      : { system: markLast([{ type: 'text', text: toWellFormed(request.system) }]) }),
    ...(request.tools.length === 0
      ? {}
      : { tools: markLast(request.tools.map((tool) => toWireTool(tool, profile.requireAll))) }),
    messages: toWireMessages(request.messages, markLast),
    stream: true,
  };
}

function toWireMessages(messages: readonly Message[], markLast: MarkLast): WireMessage[] {
  const users = messages.flatMap((message, index) => (message.role === 'user' ? [index] : []));
  // The mark on the last but one user message is where the call before wrote its cache entry: an endpoint looks only a
  // few blocks back from a mark, and a turn of many parallel calls is longer than that.
  const marked = new Set(users.slice(-2));
  return messages.map((message, index) => {
    if (message.role === 'assistant') {
      const content = message.content.map(toWireAssistantBlock);
      return { role: 'assistant', content: index === messages.length - 1 ? withTrimmedEnd(content) : content };
    }
    const content = message.content.map(toWireUserBlock);
    return { role: 'user', content: marked.has(index) ? markLast(content) : content };
  });
}

/** The API refuses white space at the very end of what the model is to go on from. */
function withTrimmedEnd(content: readonly Readonly<Record<string, unknown>>[]) {
  return content.map((block, index) =>
    index === content.length - 1 && typeof block['text'] === 'string'
      ? { ...block, text: block['text'].trimEnd() }
      : block,
  );
}

function toWireAssistantBlock(block: Extract<Message, { role: 'assistant' }>['content'][number]) {
  if (isOpaque(block)) return toRawOpaque(block);
  if (block.type === 'text') return { type: 'text', text: block.text, ...block.extra };
  const { id, name, input, extra } = block;
  return { type: 'tool_use', id, name: toWireName(name), input: toWireInput(input), ...extra };
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

function toWireTool(tool: ToolDefinition, requireAll: boolean): WireTool {
  const { properties, required, ...rest } = tool.inputSchema;
  const declared = { properties: properties ?? {}, required: required ?? [] };
  return {
    name: tool.name,
    description: toWellFormed(tool.description),
    // Some compatible endpoints refuse a schema without these three.
    input_schema: { ...rest, type: 'object', ...(requireAll ? withAllRequired(declared) : declared) },
  };
}

/** What was optional may be null instead: the coercion of inputs takes that as absent. */
function withAllRequired(declared: { readonly properties: unknown; readonly required: unknown }) {
  const required = Array.isArray(declared.required) ? declared.required : [];
  const properties = Object.entries(isRecord(declared.properties) ? declared.properties : {}).map(
    ([name, schema]) => [name, required.includes(name) ? schema : { anyOf: [schema, { type: 'null' }] }] as const,
  );
  return { properties: Object.fromEntries(properties), required: properties.map(([name]) => name) };
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

type MarkLast = <T extends WireText | WireToolResult | WireTool>(items: readonly T[]) => readonly T[];

const unmarked: MarkLast = (items) => items;

const withMark: MarkLast = (items) =>
  items.map((item, index) => (index === items.length - 1 ? { ...item, cache_control: CACHE_MARK } : item));

/** An answer of nothing but thinking goes as a whole. */
function withoutThinking(messages: readonly Message[]): Message[] {
  return messages.flatMap((message): Message[] => {
    if (message.role === 'user') return [message];
    const content = message.content.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
