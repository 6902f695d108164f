import { randomInt } from 'node:crypto';

const MAX_WORDS_LENGTH = 32;
const SUFFIX_LENGTH = 4;
const SUFFIX_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A workflow id that a person recognises and can type: `fix-the-failing-test-k3f9`. */
export function newWorkflowId(task: string): string {
  const words = task
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .match(/[a-z0-9]+/g);
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_LETTERS.charAt(randomInt(SUFFIX_LETTERS.length)));
  return `${joinWords(words ?? []) || 'run'}-${suffix.join('')}`;
}

function joinWords(words: readonly string[]): string {
  let joined = '';
  for (const word of words) {
    const next = joined === '' ? word : `${joined}-${word}`;
    if (next.length > MAX_WORDS_LENGTH) break;
    joined = next;
  }
  return joined === '' ? (words[0] ?? '').slice(0, MAX_WORDS_LENGTH) : joined;
}
