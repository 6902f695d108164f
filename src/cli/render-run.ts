import type { RunView, StepView, TurnView } from '../transcript/view';
import { countOf, formatAge } from './format';
import type { Io } from './io';
import { renderEnd } from './render-result';
import { diffLines, stepLine } from './render-step';
import { resultOf } from './result';
import { visibleLine, visibleText } from './visible-text';

export interface RenderRunOptions {
  readonly state: string;
  readonly command: string;
  /** Results of steps are not shortened. */
  readonly full: boolean;
  readonly link?: string;
}

const RESULT_LINES = 12;
const DIFF_LINES = 40;

/** A run as a page of text: what was asked, each turn with its steps and their results, how it ended. */
export function renderRun(view: RunView, io: Io, options: RenderRunOptions): string[] {
  const { colors } = io;
  const { input } = view;
  const model = input.model.provider === 'scripted' ? `scripted:${input.model.model}` : input.model.model;
  return [
    `${colors.bold(visibleText(view.workflowId))} · ${options.state} · started ${formatAge(Date.now() - view.startedAt)} ago by ${visibleLine(input.startedBy, 80)}`,
    `workspace ${visibleText(input.workspace)} · model ${visibleText(model)} · mode ${input.permission.mode}`,
    ...(options.link === undefined ? [] : [options.link]),
    ...(view.earlierPartGone ? [colors.yellow('An earlier part of this conversation is gone (retention).')] : []),
    '',
    `${colors.bold('task')}  ${indent(visibleText(input.task.trim()))}`,
    ...view.turns.flatMap((turn) => renderTurn(turn, io, options)),
    ...renderPlan(view, io),
    '',
    ...renderTail(view, io, options),
  ];
}

function renderTail(view: RunView, io: Io, { command }: RenderRunOptions): string[] {
  const unread =
    view.unread.length === 0 ? [] : [`${countOf(view.unread.length, 'message')} came too late to be read.`];
  if (view.closed) return [...unread, ...renderEnd(resultOf(view), io)];
  return [`The run is open. Follow it: ${command} attach ${visibleText(view.workflowId)}`];
}

const PLAN_MARKS = { pending: ' ', in_progress: '…', completed: '✓' } as const;

function renderPlan({ todos }: RunView, { colors }: Io): string[] {
  if (todos.length === 0) return [];
  const lines = todos.map(({ text, status }) => `  [${PLAN_MARKS[status]}] ${visibleLine(text, 200)}`);
  return ['', colors.bold('plan'), ...lines];
}

function renderTurn(turn: TurnView, io: Io, options: RenderRunOptions): string[] {
  const { colors } = io;
  const said = turn.said.map(
    ({ by, text }) => `${colors.bold(visibleLine(by, 60))}  ${indent(visibleText(text.trim()))}`,
  );
  const text = turn.text.trim() === '' ? [] : [`  ${indent(visibleText(turn.text.trim()))}`];
  return [
    ...said.flatMap((line) => ['', line]),
    '',
    colors.cyan(`turn ${turn.turn}`) + (turn.status === 'running' ? ' · the model works' : ''),
    ...text,
    ...(turn.failure === undefined ? [] : [colors.red(`  failed: ${visibleText(turn.failure)}`)]),
    ...turn.steps.flatMap((step) => renderStep(step, io, options.full)),
  ];
}

function renderStep(step: StepView, io: Io, full: boolean): string[] {
  const body = shorten(
    visibleText(step.result ?? '')
      .trimEnd()
      .split('\n'),
    full ? Infinity : RESULT_LINES,
  );
  const diff = step.details?.diff;
  const changes =
    diff === undefined ? [] : shorten(diffLines(visibleText(diff.trimEnd()), io.colors), full ? Infinity : DIFF_LINES);
  return [
    stepLine(step, io),
    ...body.map((line) => `        ${io.colors.dim(line)}`),
    ...changes.map((line) => `        ${line}`),
  ];
}

function shorten(lines: readonly string[], max: number): readonly string[] {
  if (lines.length === 1 && lines[0] === '') return [];
  if (lines.length <= max) return lines;
  return [...lines.slice(0, max - 1), `… ${countOf(lines.length - max + 1, 'more line')} (--full)`];
}

/** Further lines begin under the first. */
function indent(text: string): string {
  return text.replace(/\n/g, '\n  ');
}
