import type { Colors, Io } from '../io';
import { worst } from './check';
import type { Check, CheckState } from './check';

const MARKS: Readonly<Record<CheckState, (colors: Colors) => string>> = {
  ok: ({ green }) => green('✓'),
  warn: ({ yellow }) => yellow('!'),
  fail: ({ red }) => red('✗'),
};

/** One line for what is well; for the rest also why it matters and what to do. */
export function renderChecks(checks: readonly Check[], { colors }: Pick<Io, 'colors'>): string[] {
  const lines = checks.flatMap((check) => {
    const line = `${MARKS[check.state](colors)} ${check.id}: ${check.detail}`;
    if (check.state === 'ok') return isPart(check) ? [line] : [`${line}${colors.dim(` — ${check.why}`)}`];
    return [line, colors.dim(`    why:  ${check.why}`), ...(check.mend === null ? [] : [`    mend: ${check.mend}`])];
  });
  return [...lines, '', closingLine(checks)];
}

/** A part of the check before it, which has said why it matters. */
function isPart({ id }: Check): boolean {
  return id.startsWith('sandbox:');
}

function closingLine(checks: readonly Check[]): string {
  const count = (state: CheckState): number => checks.filter((check) => check.state === state).length;
  switch (worst(checks.map(({ state }) => state))) {
    case 'fail':
      return `${String(count('fail'))} to mend, ${String(count('warn'))} to look at.`;
    case 'warn':
      return `Nothing fails; ${String(count('warn'))} to look at.`;
    case 'ok':
      return 'All is well.';
  }
}
