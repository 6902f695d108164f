import type { Message } from '../../src/contract/message';
import type { ModelCallOptions, ModelRequest } from '../../src/model/port';

/** A sound request for tests; parts are replaced by what the test is about. */
export function modelRequest(parts: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'claude-sonnet-5-5',
    system: 'You are a test.',
    tools: [
      {
        name: 'read_file',
        description: 'Reads a file.',
        inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
    ],
    messages: [userText('Do it.')],
    maxOutputTokens: 1024,
    turn: 1,
    tryNumber: 1,
    ...parts,
  };
}

export function userText(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

/** Options of a call that nobody aborts, with the progress texts that came. */
export function callOptions(signal: AbortSignal = new AbortController().signal): ModelCallOptions & {
  readonly texts: string[];
} {
  const texts: string[] = [];
  return { signal, texts, onProgress: ({ text }) => texts.push(text) };
}
