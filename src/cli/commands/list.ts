import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { Command } from 'commander';
import { MEMO, WORKFLOW_TYPE } from '../../contract/names';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { formatAge } from '../format';
import type { Io } from '../io';
import { addSettingsOption } from '../options';
import { attributeOf, stateOf } from '../run-state';
import { hasState } from '../session';
import type { Session } from '../session';
import { findRun, firstRunId } from '../start-run';
import { cutLine, visibleLine } from '../visible-text';

const HELP = `
Examples:
  surehand list
  surehand list --open --json`;

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
const DESCRIBED_AT_ONCE = 16;

interface ListFlags {
  readonly settings?: string;
  readonly json?: boolean;
  readonly open?: boolean;
  readonly limit: string;
}

interface ListedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly state: string;
  readonly turns: number | null;
  readonly startedAt: string;
  readonly task: string;
}

export function registerList(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('list').description('the newest runs, with their state'))
    .option('--open', 'only those that have not ended')
    .option('-n, --limit <n>', 'how many', String(DEFAULT_LIMIT))
    .option('--json', 'print a JSON array on stdout')
    .addHelpText('after', HELP)
    .action((flags: ListFlags) => list(flags, context));
}

async function list(flags: ListFlags, context: CommandContext): Promise<void> {
  const config = context.config(flags);
  const { io } = context;
  const runs = hasState(config) ? await withSession(context, config, (session) => readRuns(session, flags)) : [];
  if (flags.json === true) {
    await io.write(`${JSON.stringify(runs, null, 2)}\n`);
    return;
  }
  if (runs.length === 0) {
    io.say(`There are no ${flags.open === true ? 'open ' : ''}runs. Start one: ${context.command} run "task"`);
    return;
  }
  await io.write(`${table(runs, io).join('\n')}\n`);
}

/** The index may lag a moment, so each row is asked for itself. */
async function readRuns(session: Session, flags: ListFlags): Promise<ListedRun[]> {
  const limit = Math.min(Math.max(1, Number.parseInt(flags.limit, 10) || DEFAULT_LIMIT), MAX_LIMIT);
  const open = flags.open === true ? ' AND ExecutionStatus="Running"' : '';
  const found: { readonly workflowId: string; readonly startTime: Date }[] = [];
  const seen = new Set<string>();
  for await (const { workflowId, startTime } of session.client.workflow.list({
    query: `WorkflowType="${WORKFLOW_TYPE}"${open}`,
  })) {
    // The runs of a chain, and repeats under one id, are one line: the newest.
    if (seen.has(workflowId)) continue;
    seen.add(workflowId);
    found.push({ workflowId, startTime });
    if (found.length === limit) break;
  }
  const rows: ListedRun[] = [];
  for (let index = 0; index < found.length; index += DESCRIBED_AT_ONCE) {
    const part = found.slice(index, index + DESCRIBED_AT_ONCE);
    const described = await Promise.all(part.map(({ workflowId }) => findRun(session, workflowId)));
    for (const run of described) if (run !== undefined) rows.push(await toRow(run));
  }
  return rows;
}

async function toRow(run: WorkflowExecutionDescription): Promise<ListedRun> {
  const turns = attributeOf(run, 'SurehandTurns');
  const task = run.memo?.[MEMO.task];
  return {
    workflowId: run.workflowId,
    runId: firstRunId(run),
    state: stateOf(run),
    turns: typeof turns === 'number' ? turns : null,
    startedAt: run.startTime.toISOString(),
    task: typeof task === 'string' ? task : ((await run.staticSummary()) ?? ''),
  };
}

function table(runs: readonly ListedRun[], io: Io): string[] {
  const rows = [
    ['ID', 'STATE', 'TURNS', 'AGE', 'TASK'],
    ...runs.map(({ workflowId, state, turns, startedAt, task }) => [
      visibleLine(workflowId, 60),
      state,
      turns === null ? '-' : String(turns),
      formatAge(Date.now() - Date.parse(startedAt)),
      visibleLine(task, 200),
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const width = io.outIsTerminal ? io.width : Number.POSITIVE_INFINITY;
  return rows.map((row) =>
    cutLine(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '), width).trimEnd(),
  );
}
