import { cutEnd } from './cut-text';

/** Files are searched for a similar line only so far: it is a hint, not a search. */
const MAX_LINES = 20_000;
const MAX_LINE_LENGTH = 500;
const MIN_SIMILARITY = 0.5;

/** A sentence about the line most like the first line of what was not found, or undefined if none is similar. */
export function nearestLineHint(text: string, wanted: string): string | undefined {
  const target = wanted.split('\n').find((line) => line.trim() !== '');
  if (target === undefined) return undefined;
  const wantedPairs = pairs(target);
  let best = { line: 0, text: '', score: 0 };
  for (const [index, line] of text.split('\n').slice(0, MAX_LINES).entries()) {
    const score = line.trim() === target.trim() ? 1 : similarity(wantedPairs, pairs(line));
    if (score > best.score) best = { line: index + 1, text: line, score };
  }
  if (best.score < MIN_SIMILARITY) return undefined;
  const shown = JSON.stringify(cutEnd(best.text.replace(/\r$/u, ''), 200).text);
  return best.score === 1 && best.text.trim() === target.trim()
    ? `Line ${best.line} is ${shown}: the same but for what surrounds it (spaces, or the lines after it).`
    : `The nearest is line ${best.line}: ${shown}.`;
}

function pairs(line: string): Map<string, number> {
  const text = line.trim().slice(0, MAX_LINE_LENGTH);
  const found = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at += 1) {
    const pair = text.slice(at, at + 2);
    found.set(pair, (found.get(pair) ?? 0) + 1);
  }
  return found;
}

/** Dice coefficient of the pairs of neighbouring characters: 0 … 1. */
function similarity(a: Map<string, number>, b: Map<string, number>): number {
  let common = 0;
  for (const [pair, times] of a) common += Math.min(times, b.get(pair) ?? 0);
  const total = sum(a) + sum(b);
  return total === 0 ? 0 : (2 * common) / total;
}

function sum(counts: Map<string, number>): number {
  let total = 0;
  for (const times of counts.values()) total += times;
  return total;
}
