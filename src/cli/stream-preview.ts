import type { RunView } from '../transcript/view';
import type { Pending } from './pending';
import { visibleText } from './visible-text';

const MAX_LINES = 8;
/** From here on a character may take two columns of a terminal: better a short line than one that wraps. */
const FIRST_WIDE = 0x1100;

/**
 * The end of what the model is writing now, in lines that fit a terminal: also for one that comes in the middle of an
 * answer. Empty when it writes nothing.
 */
export function previewLines(view: RunView | undefined, pending: Pending | undefined, width: number): string[] {
  const turn = view?.turns[view.turns.length - 1];
  if (view === undefined || view.closed || turn?.status !== 'running') return [];
  const writing = pending?.activities.find(({ activityId }) => activityId === `model-${turn.turn}`);
  const tail = writing?.progress?.tail.trimEnd() ?? '';
  if (tail === '') return [];
  // Enough characters for all lines there is room for.
  const lines = visibleText(tail.slice(-MAX_LINES * width))
    .split('\n')
    .flatMap((line) => wrap(line, width - 3));
  return lines.slice(-MAX_LINES).map((line) => `  ${line}`);
}

function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  let columns = 0;
  for (const character of line.replaceAll('\t', '  ')) {
    const wide = (character.codePointAt(0) ?? 0) >= FIRST_WIDE ? 2 : 1;
    if (columns + wide > width) {
      lines.push(current);
      current = '';
      columns = 0;
    }
    current += character;
    columns += wide;
  }
  return [...lines, current];
}
