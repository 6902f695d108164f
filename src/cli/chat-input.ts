import { createInterface } from 'node:readline';
import type { Io } from './io';

/** What a person typed at the prompt. */
export type Typed =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'help' }
  /** End the conversation. */
  | { readonly kind: 'exit' }
  /** Leave it open and go. */
  | { readonly kind: 'detach' }
  | { readonly kind: 'unknown'; readonly command: string };

export interface ChatInput {
  /** The next line that says something; asks for it on a terminal. */
  next(): Promise<Typed>;
  close(): void;
}

const PROMPT = '> ';

/** A line as it is meant. A message that begins with a slash is written with two. */
export function readTyped(line: string): Typed | undefined {
  const text = line.trim();
  if (text === '') return undefined;
  if (!text.startsWith('/')) return { kind: 'text', text: line };
  if (text.startsWith('//')) return { kind: 'text', text: text.slice(1) };
  switch (text) {
    case '/help':
      return { kind: 'help' };
    case '/exit':
      return { kind: 'exit' };
    case '/detach':
      return { kind: 'detach' };
    default:
      return { kind: 'unknown', command: text };
  }
}

/**
 * Reads lines from standard input. At the end of a terminal's input (Ctrl-D) the chat is left open; at the end of a
 * file or pipe nobody can go on, so it is over.
 */
export function openChatInput(io: Io): ChatInput {
  const isTerminal = io.inIsTerminal;
  const reader = createInterface({ input: io.stdin, crlfDelay: Infinity });
  const lines = reader[Symbol.asyncIterator]();
  return {
    next: async () => {
      for (;;) {
        if (isTerminal) io.prompt(PROMPT);
        const line = await lines.next();
        if (line.done === true) return { kind: isTerminal ? 'detach' : 'exit' };
        const typed = readTyped(line.value);
        if (typed !== undefined) return typed;
      }
    },
    close: () => reader.close(),
  };
}
