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

/** A scripted model from its turns. */
export function scripted(turns: readonly ScriptTurn[]): ModelChoice {
  return { provider: 'scripted', model: 'test', endpoint: 'default', script: stringify({ turns }) };
}

/** `turns - 1` turns of two parallel reads each, then the end. */
export function readingScript(turns: number, textOf: (turn: number, n: number) => string): ModelChoice {
  const reading = Array.from({ length: turns - 1 }, (_, index) => ({
    text: `Turn ${String(index + 1)}.`,
    calls: [1, 2].map((n) => ({ name: 'read', input: { text: textOf(index + 1, n) } })),
  }));
  return scripted([...reading, { text: 'The end.' }]);
}
