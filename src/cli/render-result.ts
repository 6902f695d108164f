import type { ResultDocument } from '../contract/result-document';
import type { Usage } from '../contract/message';
import type { RunView } from '../transcript/view';
import { countOf, formatCost, formatCount, formatDuration } from './format';
import type { Io } from './io';
import { diffLines } from './render-step';
import { visibleLine, visibleText } from './visible-text';

const MAX_DIFF_LINES = 120;
const MAX_LISTED = 10;

/** The diffs of all file changes of a run, in order, for people. Empty when there were none. */
export function renderDiffs(view: RunView, io: Io): string[] {
  const diffs = view.turns.flatMap(({ steps }) => steps.flatMap(({ details }) => details?.diff ?? []));
  const lines = diffs.flatMap((diff) => diffLines(visibleText(diff.trimEnd()), io.colors));
  if (lines.length <= MAX_DIFF_LINES) return lines;
  return [...lines.slice(0, MAX_DIFF_LINES), `… ${countOf(lines.length - MAX_DIFF_LINES, 'more line')}`];
}

/** What a run came to, for people: outcome, why, counts. The answer itself is not in it. */
export function renderEnd(result: ResultDocument, io: Io): string[] {
  const { colors } = io;
  const facts = [
    countOf(result.turns, 'turn'),
    formatUsage(result.usage),
    ...(result.costUsd === null ? [] : [formatCost(result.costUsd)]),
    formatDuration(result.durationMs),
  ];
  const good = result.outcome === 'done';
  const head = `${good ? colors.green(result.outcome) : colors.red(result.outcome)} · ${facts.join(' · ')}`;
  return [head, ...renderError(result), ...renderDenials(result), ...renderFiles(result.filesChanged)];
}

/** `1,234 tokens in, 56 out`; what came from a cache is counted as read. */
function formatUsage(usage: ResultDocument['usage']): string {
  const total = Object.values(usage).reduce<Usage>(
    (sum, one) => ({
      input: sum.input + one.input,
      output: sum.output + one.output,
      cacheRead: sum.cacheRead + one.cacheRead,
      cacheWrite: sum.cacheWrite + one.cacheWrite,
    }),
    { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  );
  const read = total.input + total.cacheRead + total.cacheWrite;
  return `${formatCount(read)} tokens in, ${formatCount(total.output)} out`;
}

/** A cancelled run has been said to be cancelled. */
function renderError({ error, outcome }: ResultDocument): string[] {
  return error === null || error.class === outcome ? [] : [`  ${visibleText(error.message)} (${error.class})`];
}

function renderDenials({ denials }: ResultDocument): string[] {
  return denials
    .slice(0, MAX_LISTED)
    .map(
      ({ call, tool, summary, reason }) =>
        `  denied ${call} ${visibleLine(`${tool} ${summary}`, 80)}: ${visibleLine(reason, 120)}`,
    );
}

function renderFiles(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const shown = files.slice(0, MAX_LISTED).map((file) => visibleLine(file, 120));
  const more = files.length > MAX_LISTED ? ` and ${formatCount(files.length - MAX_LISTED)} more` : '';
  return [`  changed: ${shown.join(', ')}${more}`];
}
