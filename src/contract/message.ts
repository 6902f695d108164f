/**
 * Messages as they stand in the transcript. The shapes are those of the Messages API, so that what a model sent goes
 * back to it byte for byte; the types are ours, so that no vendor type leaves its adapter.
 */

/** Stands for an answer without any content, so that nothing blank enters the transcript. */
export const BLANK_ANSWER = '(empty answer)';

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  /** Fields that the endpoint wants back with the block. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** Fields that the endpoint wants back with the block. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A reference to bytes that are too large or not text (images, files): they stay on the host, under their digest. */
export interface BlobBlock {
  readonly type: 'blob';
  readonly blob: string;
  readonly bytes: number;
  readonly digest: string;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: boolean;
}

/** Any other block a model may send (thinking, redacted thinking, …). Kept verbatim and in place. */
export interface OpaqueBlock {
  readonly type: 'thinking' | 'redacted_thinking' | 'opaque';
  readonly [key: string]: unknown;
}

export type AssistantBlock = TextBlock | ToolUseBlock | OpaqueBlock;
export type UserBlock = ToolResultBlock | TextBlock | BlobBlock;

export interface AssistantMessage {
  readonly role: 'assistant';
  /** Random, 12 characters of base32, made where the message was made. */
  readonly id: string;
  readonly content: readonly AssistantBlock[];
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly UserBlock[];
}

export type Message = AssistantMessage | UserMessage;

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}
