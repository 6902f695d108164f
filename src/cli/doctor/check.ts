import { visibleText } from '../visible-text';

export type CheckState = 'ok' | 'warn' | 'fail';

/** One line of `doctor`. Its fields are those of the `--json` document. */
export interface Check {
  /** Stable, for programs: `node`, `sandbox:network`, `run:<workflow id>`. */
  readonly id: string;
  readonly state: CheckState;
  /** What was found. */
  readonly detail: string;
  /** Why it matters. */
  readonly why: string;
  /** What to do; null where there is nothing to mend. */
  readonly mend: string | null;
}

/** What a check found; `mend` says what to do unless all is well. */
export interface Finding {
  readonly state: CheckState;
  readonly detail: string;
  readonly mend?: string;
}

export interface CheckPlan {
  readonly id: string;
  readonly why: string;
  /** Milliseconds until the check counts as failed. Default 5 s. */
  readonly timeoutMs?: number;
  readonly look: () => Finding | Promise<Finding>;
}

const TIMEOUT_MS = 5_000;

/** Makes one check. It ends in time and never throws: what goes wrong in it is its finding. */
export async function check(plan: CheckPlan): Promise<Check> {
  const { id, why } = plan;
  const finding = await withinTime(plan.timeoutMs ?? TIMEOUT_MS, plan.look);
  return { id, state: finding.state, detail: finding.detail, why, mend: finding.mend ?? null };
}

async function withinTime(timeoutMs: number, look: CheckPlan['look']): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, {
      state: 'fail',
      detail: `no answer within ${String(timeoutMs / 1000)} s`,
      mend: 'Look whether it is overloaded or hangs, and try again.',
    });
  });
  try {
    return await Promise.race([Promise.resolve().then(look), late]);
  } catch (error) {
    const message = visibleText(error instanceof Error ? error.message : String(error));
    return { state: 'fail', detail: message, mend: 'Mend what the message names, and try again.' };
  } finally {
    clearTimeout(timer);
  }
}

/** The least good of several states. */
export function worst(states: readonly CheckState[]): CheckState {
  if (states.includes('fail')) return 'fail';
  return states.includes('warn') ? 'warn' : 'ok';
}
