import { retryNotice } from '../conversation/retry-notice';
import type { RunView, StepView, TurnView } from '../transcript/view';
import { formatDuration } from './format';
import type { Io } from './io';
import type { Pending, PendingActivity } from './pending';
import { stepLine, stepProblem } from './render-step';
import { previewLines } from './stream-preview';
import { cutLine, visibleLine, visibleText } from './visible-text';

/** Shows a run as it happens: what is new as lines, what runs now as the terminal's last line. */
export interface LiveView {
  /** Prints what this view has more than the ones before. */
  update(view: RunView): void;
  /** What the server says about the steps that run. */
  progress(pending: Pending): void;
  /** Redraws the last line; its clock goes on. */
  tick(): void;
  end(): void;
}

export interface LiveViewOptions {
  readonly now?: () => number;
  /** Whether a turn's text is an answer, which goes to stdout. Default: the last words of a run. */
  readonly isAnswer?: (turn: TurnView, isLast: boolean) => boolean;
}

export function createLiveView(io: Io, options: LiveViewOptions = {}): LiveView {
  const { now = Date.now, isAnswer = isLastWord } = options;
  const printed = new Set<string>();
  const showRetry = createRetryNotice(io, now);
  let latest: RunView | undefined;
  let pending: Pending | undefined;

  const once = (key: string, lines: () => readonly string[]): void => {
    if (printed.has(key)) return;
    printed.add(key);
    for (const line of lines()) io.say(line);
  };

  const showTurn = (turn: TurnView, isLast: boolean): void => {
    turn.said.forEach(({ by, text }, index) => {
      const intro = `${io.colors.bold(visibleLine(by, 60))}: `;
      once(`said ${turn.turn} ${index}`, () => [`${intro}${visibleText(text)}`]);
    });
    if (turn.text.trim() !== '' && !isAnswer(turn, isLast)) {
      once(`text ${turn.turn}`, () => textLines(turn.text, io));
    }
    for (const step of turn.steps) showStep(step);
  };

  const showStep = (step: StepView): void => {
    if (step.status === 'waiting' || step.status === 'running') return;
    once(`step ${step.call}`, () => {
      // A command that failed has its exit code; what it printed is in `show`.
      const problem = step.details?.exitCode === undefined ? stepProblem(step, io.width) : undefined;
      return [
        stepLine(step, io),
        ...(problem === undefined ? [] : [`         ${io.colors.dim(cutLine(problem, io.width - 12))}`]),
      ];
    });
  };

  const tick = (): void => {
    const written = previewLines(latest, pending, io.width);
    const line = statusLine(latest, written.length === 0 ? pending : withoutProgress(pending), now());
    const lines = line === undefined ? [] : [...written, cutLine(line, io.width - 1)];
    io.status(lines.length === 0 ? undefined : lines.map((text) => io.colors.dim(text)).join('\n'));
  };

  return {
    update: (view) => {
      latest = view;
      view.turns.forEach((turn, index) => {
        if (turn.status !== 'running') showTurn(turn, index === view.turns.length - 1);
      });
      tick();
    },
    progress: (next) => {
      pending = next;
      next.activities.forEach(showRetry);
      tick();
    },
    tick,
    end: () => io.status(undefined),
  };
}

/** What the model writes stands above the last line already. */
function withoutProgress(pending: Pending | undefined): Pending | undefined {
  return pending && { ...pending, activities: pending.activities.map(({ progress: _, ...rest }) => rest) };
}

function isLastWord({ steps }: TurnView, isLast: boolean): boolean {
  return isLast && steps.length === 0;
}

/** Says each new try of a step once: why the one before failed, and when it comes. */
function createRetryNotice(io: Io, now: () => number): (activity: PendingActivity) => void {
  const said = new Map<string, number>();
  return ({ activityId, attempt, lastFailure, portFailure, started, scheduledAt }) => {
    if (attempt < 2 || lastFailure === undefined || (said.get(activityId) ?? 1) >= attempt) return;
    said.set(activityId, attempt);
    const wait = started ? 0 : Math.max(0, scheduledAt - now());
    const when = wait < 1_000 ? 'now' : `in ${formatDuration(wait)}`;
    const notice = portFailure === undefined ? undefined : retryNotice(portFailure, now());
    if (notice !== undefined && portFailure?.nextTry?.number === attempt) {
      const detail = visibleLine(portFailure.detail, Math.max(40, io.width - notice.length - 16));
      io.say(io.colors.yellow(`  ! ${stepName(activityId)}: ${notice} · ${detail}`));
      return;
    }
    const why = visibleLine(lastFailure, Math.max(40, io.width - 40));
    io.say(io.colors.yellow(`  ! ${stepName(activityId)}: ${why} · try ${attempt} ${when}`));
  };
}

/** `⋯ 2.1 bash npm test · 3.2 s · its last output`, or what else the run waits for. */
export function statusLine(view: RunView | undefined, pending: Pending | undefined, now: number): string | undefined {
  if (view === undefined) return '⋯ starting';
  if (view.closed) return undefined;
  const turn = view.turns[view.turns.length - 1];
  if (turn === undefined) return '⋯ preparing the workspace';
  const tailOf = (activityId: string): string => {
    const tail = pending?.activities.find((activity) => activity.activityId === activityId)?.progress?.tail ?? '';
    const lines = tail.split('\n').filter((line) => line.trim() !== '');
    return lines.length === 0 ? '' : ` · ${visibleLine(lines[lines.length - 1] ?? '', 200)}`;
  };
  if (turn.status === 'running') {
    const waiting = pending?.activities.find(
      ({ activityId, started }) => activityId === `model-${turn.turn}` && !started,
    );
    const notice = waiting?.portFailure === undefined ? undefined : retryNotice(waiting.portFailure, now);
    if (notice !== undefined) return `⋯ turn ${turn.turn}: ${notice}`;
    return `⋯ turn ${turn.turn}: the model works · ${age(turn.startedAt, now)}${tailOf(`model-${turn.turn}`)}`;
  }
  const running = turn.steps.filter(({ status }) => status === 'running');
  const [first] = running;
  if (first === undefined) return `⋯ turn ${turn.turn}`;
  if (running.length > 1) return `⋯ ${running.map(({ call, tool }) => `${call} ${visibleLine(tool, 20)}`).join(', ')}`;
  const what = first.summary.startsWith(first.tool) ? first.summary : `${first.tool} ${first.summary}`;
  return `⋯ ${first.call} ${visibleLine(what, 60)} · ${age(first.startedAt ?? now, now)}${tailOf(first.activityId)}`;
}

function textLines(text: string, { colors }: Io): string[] {
  const lines = visibleText(text.trim()).split('\n');
  return lines.map((line, index) => (index === 0 ? `${colors.cyan('●')} ${line}` : `  ${line}`));
}

function stepName(activityId: string): string {
  if (activityId.startsWith('tool-')) return activityId.slice('tool-'.length);
  return activityId.startsWith('model-') ? `turn ${activityId.slice('model-'.length)}` : activityId;
}

function age(since: number, now: number): string {
  return formatDuration(Math.max(0, now - since));
}
