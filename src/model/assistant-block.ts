import type { AssistantBlock, OpaqueBlock } from '../contract/message';

export type RawBlock = Readonly<Record<string, unknown>>;

/** Of text and call blocks. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'id', 'name', 'input']);

/**
 * A block as an endpoint sent it → ours. Text and calls keep what we use of them, and the fields named in `echoFields`;
 * thinking stays verbatim; a type we do not know is wrapped, so that it goes back as it came.
 */
export function toAssistantBlock(raw: RawBlock, echoFields: readonly string[] = []): AssistantBlock {
  const type = raw['type'];
  if (type === 'text') return { type, text: toText(raw['text']), ...extraOf(raw, echoFields) };
  if (type === 'tool_use') {
    const {
      id,
      name,
      input = {},
    } = raw as { readonly id?: unknown; readonly name?: unknown; readonly input?: unknown };
    return { type, id: toText(id), name: toText(name), input: input ?? {}, ...extraOf(raw, echoFields) };
  }
  if (type === 'thinking' || type === 'redacted_thinking') return { ...raw, type };
  return { type: 'opaque', raw };
}

function extraOf(raw: RawBlock, names: readonly string[]): { readonly extra?: RawBlock } {
  const found = names.filter((name) => !OWN_FIELDS.has(name) && Object.hasOwn(raw, name) && raw[name] !== null);
  return found.length === 0 ? {} : { extra: Object.fromEntries(found.map((name) => [name, raw[name]])) };
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
