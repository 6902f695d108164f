import { Readable } from 'node:stream';
import pc from 'picocolors';
import type { Env } from '../../../src/config';
import type { Io } from '../../../src/cli/io';

export interface FakeIo extends Io {
  /** Lines said to people. */
  readonly said: string[];
  /** What was written to stdout. */
  readonly written: string[];
  readonly statuses: (string | undefined)[];
}

/** Collects what a command says, without colours. */
export function fakeIo(
  options: { readonly env?: Env; readonly stdin?: string; readonly isTerminal?: boolean } = {},
): FakeIo {
  const said: string[] = [];
  const written: string[] = [];
  const statuses: (string | undefined)[] = [];
  return {
    env: options.env ?? {},
    stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
    isTerminal: options.isTerminal ?? false,
    inIsTerminal: options.isTerminal ?? false,
    outIsTerminal: options.isTerminal ?? false,
    width: 100,
    colors: pc.createColors(false),
    said,
    written,
    statuses,
    say: (text) => said.push(...text.split('\n')),
    prompt: (text) => said.push(text),
    status: (text) => statuses.push(text),
    write: async (text) => {
      written.push(text);
    },
  };
}
