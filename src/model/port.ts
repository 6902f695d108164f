import type { AssistantBlock, Message, Usage } from '../contract/message';

/** A tool as the model sees it. `inputSchema` is strict JSON Schema: `type: object`, `required` always an array. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number;
  /** Number of this model call in the conversation, from 1. */
  readonly turn: number;
  /** Try of this call, from 1, over attempts and re-schedulings. */
  readonly tryNumber: number;
  /** Present if this call asks for a summary instead of a turn: its number in the conversation, from 1. */
  readonly summary?: number;
  /** The scripted model's text; unused by others. */
  readonly script?: string;
  /** Each request is written there as JSON before it is sent. */
  readonly dumpDirectory?: string;
}

export interface ModelProgress {
  /** Text that came since the last progress. */
  readonly text: string;
  /** What the endpoint has counted of this call so far; it counts even if no answer comes of it. */
  readonly spent?: Pick<ModelResponse, 'model' | 'usage'>;
}

export interface ModelResponse {
  readonly content: readonly AssistantBlock[];
  readonly stopReason: string;
  readonly stopDetail?: string;
  readonly usage: Usage;
  readonly model: string;
}

/**
 * One request in, progress, one response out. Never retries by itself. Throws `PortError`; an abort of `signal` throws
 * the signal's reason.
 */
export interface Model {
  respond(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse>;
}

export interface ModelCallOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ModelProgress) => void;
}
