import { stringify } from 'yaml';
import type { ModelChoice } from '../../src/contract/run-input';

export interface ScriptCall {
  readonly name: string;
  readonly input: unknown;
  readonly id?: string;
}

export interface ScriptTurn {
  readonly text?: string;
  readonly calls?: readonly ScriptCall[];
  readonly [key: string]: unknown;
}

/** A scripted model from its turns, and its summaries if it is asked for some. */
export function scripted(turns: readonly ScriptTurn[], summaries: readonly string[] = []): ModelChoice {
  return { provider: 'scripted', model: 'test', endpoint: 'default', script: stringify({ turns, summaries }) };
}

/** `turns - 1` turns of two parallel reads each, then the end. */
export function readingScript(
  turns: number,
  textOf: (turn: number, n: number) => string,
  summaries?: readonly string[],
): ModelChoice {
  const reading = Array.from({ length: turns - 1 }, (_, index) => ({
    text: `Turn ${String(index + 1)}.`,
    calls: [1, 2].map((n) => ({ name: 'read', input: { text: textOf(index + 1, n) } })),
  }));
  return scripted([...reading, { text: 'The end.' }], summaries);
}
