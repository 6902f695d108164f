import type { Message } from '../../contract/message';
import { PortError } from '../../contract/port-error';
import { toWellFormed } from '../well-formed';

const MAX_SHOWN_CHARS = 600;

/**
 * Compares the results the model just received (those in the last user message) with what the script expects of them:
 * each substring must occur, each `!substring` must not. Throws `PortError` `script_expectation` that shows both.
 */
export function expectResults(turn: number, expected: readonly string[], messages: readonly Message[]): void {
  const came = lastResults(messages).join('\n');
  const broken = expected.filter((item) =>
    item.startsWith('!') ? came.includes(item.slice(1)) : !came.includes(item),
  );
  if (broken.length === 0) return;
  const wishes = broken.map((item) =>
    item.startsWith('!') ? `not to contain ${JSON.stringify(item.slice(1))}` : `to contain ${JSON.stringify(item)}`,
  );
  throw new PortError({
    class: 'script_expectation',
    retryable: false,
    detail: `Turn ${String(turn)} of the script expected the results just received ${wishes.join(' and ')}. ${describe(came)}`,
  });
}

function lastResults(messages: readonly Message[]): string[] {
  const last = messages.findLast((message) => message.role === 'user');
  return (last?.content ?? []).flatMap((block) => (block.type === 'tool_result' ? [block.content] : []));
}

function describe(came: string): string {
  if (came === '') return 'There were none.';
  const omitted = came.length - MAX_SHOWN_CHARS;
  return omitted <= 0
    ? `They were:\n${came}`
    : `They were:\n${toWellFormed(came.slice(0, MAX_SHOWN_CHARS))}\n… (${String(omitted)} more characters)`;
}
