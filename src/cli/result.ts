import type { ResultDocument } from '../contract/result-document';
import type { FailureClass } from '../contract/failure';
import type { Outcome } from '../contract/outcome';
import { EXIT_CODES } from '../contract/outcome';
import type { Usage } from '../contract/message';
import type { RunView, TurnView } from '../transcript/view';

/** How the reason begins that `abandon` gives when it has to terminate a run. */
export const ABANDONED = 'abandoned by ';

/**
 * The result of a closed run. One that was ended from outside (terminated) has written none, so it is made from what
 * history shows.
 */
export function resultOf(view: RunView): ResultDocument {
  if (view.result !== undefined) return view.result;
  const end = endOf(view);
  return {
    ...soFar(view),
    outcome: end.outcome,
    isError: true,
    error: { class: end.class, message: end.message, retryable: false },
  };
}

interface End {
  readonly outcome: Outcome;
  readonly class: FailureClass;
  readonly message: string;
}

function endOf({ closeStatus, closeReason }: RunView): End {
  if (closeStatus === 'cancelled')
    return { outcome: 'cancelled', class: 'cancelled', message: 'the run was cancelled' };
  if (closeReason?.startsWith(ABANDONED) === true) {
    return { outcome: 'unavailable', class: 'host_unavailable', message: closeReason };
  }
  const why = closeReason === undefined ? '' : `: ${closeReason}`;
  return {
    outcome: 'failed',
    class: 'internal',
    message: `the run was ended from outside (${closeStatus ?? 'unknown'})${why}`,
  };
}

/** The fields of the result as far as an open run has them. */
export function soFar(view: RunView): Omit<ResultDocument, 'outcome' | 'isError' | 'error'> {
  const done = view.turns.filter(({ status }) => status === 'done');
  const text = done[done.length - 1]?.text ?? '';
  const changed = done.flatMap(({ steps }) => steps.flatMap(({ details }) => details?.filesChanged ?? []));
  return {
    schemaVersion: 1,
    runId: view.runId,
    workflowId: view.workflowId,
    text,
    textBytes: Buffer.byteLength(text),
    structured: null,
    turns: done.length,
    durationMs: Math.max(0, lastMoment(view) - view.startedAt),
    usage: { [view.input.model.model]: sumUsage(done) },
    costUsd: null,
    denials: done.flatMap(({ steps }) =>
      steps
        .filter(({ status }) => status === 'denied')
        .map(({ call, tool, summary, result }) => ({ call, tool, summary, reason: result ?? '' })),
    ),
    filesChanged: [...new Set(changed)],
  };
}

export function exitCodeOf(result: ResultDocument): number {
  return EXIT_CODES[result.outcome];
}

function lastMoment(view: RunView): number {
  const moments = view.turns.flatMap((turn) => [
    turn.startedAt + (turn.durationMs ?? 0),
    ...turn.steps.map(({ startedAt, durationMs }) => (startedAt ?? 0) + (durationMs ?? 0)),
  ]);
  return Math.max(view.startedAt, ...moments);
}

function sumUsage(turns: readonly TurnView[]): Usage {
  const total = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const { usage } of turns) {
    total.input += usage?.input ?? 0;
    total.output += usage?.output ?? 0;
    total.cacheRead += usage?.cacheRead ?? 0;
    total.cacheWrite += usage?.cacheWrite ?? 0;
  }
  return total;
}
