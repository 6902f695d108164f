/** The request body as the Messages API reads it. Ours, so that no vendor type leaves its adapter. */
export interface WireRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: readonly WireText[];
  readonly tools?: readonly WireTool[];
  readonly messages: readonly WireMessage[];
  readonly stream: true;
}

export interface CacheMark {
  readonly type: 'ephemeral';
}

export interface WireText {
  readonly type: 'text';
  readonly text: string;
  readonly cache_control?: CacheMark;
}

export interface WireToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: true;
  readonly cache_control?: CacheMark;
}

export interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly cache_control?: CacheMark;
}

export type WireMessage =
  | { readonly role: 'user'; readonly content: readonly (WireText | WireToolResult)[] }
  | { readonly role: 'assistant'; readonly content: readonly Readonly<Record<string, unknown>>[] };
