import type { AssistantBlock, OpaqueBlock } from '../contract/message';

export type RawBlock = Readonly<Record<string, unknown>>;

/**
 * A block as an endpoint sent it → ours. Text and calls keep what we use of them; thinking stays verbatim; a type we
 * do not know is wrapped, so that it goes back as it came.
 */
export function toAssistantBlock(raw: RawBlock): AssistantBlock {
  const type = raw['type'];
  if (type === 'text') return { type, text: toText(raw['text']) };
  if (type === 'tool_use') return { type, id: toText(raw['id']), name: toText(raw['name']), input: raw['input'] ?? {} };
  if (type === 'thinking' || type === 'redacted_thinking') return { ...raw, type };
  return { type: 'opaque', raw };
}

/** The block as the endpoint sent it: the inverse of the wrapping above. */
export function toRawOpaque(block: OpaqueBlock): RawBlock {
  if (block.type !== 'opaque') return block;
  const raw = block['raw'];
  return typeof raw === 'object' && raw !== null ? Object.fromEntries(Object.entries(raw)) : {};
}

/** Unlike `type !== 'text'`, narrows the open index signature of `OpaqueBlock` away. */
export function isOpaque(block: AssistantBlock): block is OpaqueBlock {
  return block.type === 'thinking' || block.type === 'redacted_thinking' || block.type === 'opaque';
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
