import type { StepView } from '../transcript/view';
import { formatDuration } from './format';
import type { Colors } from './io';
import { visibleLine } from './visible-text';

const MARKS = {
  waiting: '·',
  running: '·',
  success: '✓',
  failed: '✗',
  denied: '–',
  interrupted: '–',
} as const satisfies Record<StepView['status'], string>;

const SUFFIX_ROOM = 40;

/** A step on one line: `  ✓ 3.2  bash  npm test · 1.2 s`. */
export function stepLine(
  step: StepView,
  { colors, width }: { readonly colors: Colors; readonly width: number },
): string {
  const what = visibleLine(withoutTool(step), Math.max(20, width - SUFFIX_ROOM));
  const facts = [
    what,
    ...(step.durationMs === undefined ? [] : [formatDuration(step.durationMs)]),
    ...stepFacts(step),
  ].filter((fact) => fact !== '');
  const line = `${step.call.padEnd(4)} ${visibleLine(step.tool, 30).padEnd(10)} ${facts.join(' · ')}`;
  return `  ${mark(step, colors)} ${line}`;
}

/** Why a step did not do what was asked, on one line; `undefined` when it did. */
export function stepProblem(step: StepView, width: number): string | undefined {
  if (step.status === 'success' || step.status === 'running' || step.status === 'waiting') return undefined;
  const lines = (step.result ?? '').split('\n').filter((line) => line.trim() !== '');
  const last = lines[lines.length - 1] ?? '';
  // What happened to a command stands in brackets after its output; other tools begin with it.
  const line = last.startsWith('[') ? last : lines[0];
  return line === undefined ? undefined : visibleLine(line, Math.max(20, width - 12));
}

/** Added and removed lines of a unified diff. */
export function countDiff(diff: string): { readonly added: number; readonly removed: number } {
  const lines = diff.split('\n');
  return {
    added: lines.filter((line) => line.startsWith('+') && !line.startsWith('+++')).length,
    removed: lines.filter((line) => line.startsWith('-') && !line.startsWith('---')).length,
  };
}

/** A unified diff with colours, each line visible. */
export function diffLines(diff: string, colors: Colors): string[] {
  return diff.split('\n').map((raw) => {
    const line = raw.length > 400 ? `${raw.slice(0, 400)}…` : raw;
    if (line.startsWith('+++') || line.startsWith('---')) return colors.bold(line);
    if (line.startsWith('@@')) return colors.cyan(line);
    if (line.startsWith('+')) return colors.green(line);
    return line.startsWith('-') ? colors.red(line) : line;
  });
}

function stepFacts(step: StepView): string[] {
  const { details } = step;
  const diff = details?.diff === undefined ? undefined : countDiff(details.diff);
  return [
    ...(details?.exitCode === undefined || details.exitCode === 0 ? [] : [`exit ${String(details.exitCode)}`]),
    ...(diff === undefined ? [] : [`+${String(diff.added)} −${String(diff.removed)}`]),
    ...(details?.origin === undefined ? [] : [visibleLine(details.origin, 20)]),
    ...(step.status === 'denied' || step.status === 'interrupted' ? [step.status] : []),
  ];
}

/** Some summaries begin with the tool, which has its own column. */
function withoutTool({ tool, summary }: StepView): string {
  return summary.startsWith(`${tool} `) ? summary.slice(tool.length + 1) : summary === tool ? '' : summary;
}

function mark(step: StepView, colors: Colors): string {
  const sign = MARKS[step.status];
  if (step.status === 'success') return colors.green(sign);
  return step.status === 'failed' ? colors.red(sign) : colors.yellow(sign);
}
