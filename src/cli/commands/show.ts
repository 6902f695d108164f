import type { Command } from 'commander';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import type { ExistingRun } from '../existing-run';
import { readView, requireRun } from '../existing-run';
import { addRecordOption, addSettingsOption } from '../options';
import { checkRecordFile, recordRun } from '../record-run';
import { renderRun } from '../render-run';
import { resultOf, soFar } from '../result';
import type { RunView } from '../../transcript/view';
import { stateOf } from '../run-state';

const HELP = `
Reads the run from Temporal's history; no worker is needed.
Examples:
  surehand show fix-the-failing-test-k3f9
  surehand show fix-the-failing-test-k3f9 --full | less -R
  surehand show fix-the-failing-test-k3f9 --json
  surehand show fix-the-failing-test-k3f9 --record fix.yaml`;

interface ShowFlags {
  readonly settings?: string;
  readonly json?: boolean;
  readonly full?: boolean;
  readonly record?: string;
}

export function registerShow(program: Command, context: CommandContext): void {
  const command = program.command('show <id>').description('the whole conversation of a run, open or ended');
  addRecordOption(addSettingsOption(command))
    .option('--full', 'do not shorten results of steps')
    .option('--json', 'print exactly one JSON document on stdout: result so far, messages, size of the history')
    .addHelpText('after', HELP)
    .action((id: string, flags: ShowFlags) => show(id, flags, context));
}

async function show(id: string, flags: ShowFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const record = flags.record === undefined ? undefined : checkRecordFile(flags.record);
  await withSession(context, context.config(flags), async (session) => {
    const run = await requireRun(session, id, context);
    const view = await readView(session, run);
    if (record !== undefined) recordRun(view, record, io);
    if (flags.json === true) {
      await io.write(`${JSON.stringify(toDocument(run, view), null, 2)}\n`);
      return;
    }
    const link = session.uiLink(view.workflowId, view.runId);
    const lines = renderRun(view, io, {
      state: stateOf(run.description),
      command,
      full: flags.full === true,
      ...(link === undefined ? {} : { link }),
    });
    await io.write(`${lines.join('\n')}\n`);
  });
}

function toDocument(run: ExistingRun, view: RunView): object {
  const result = view.closed ? resultOf(view) : { ...soFar(view), outcome: null, isError: false, error: null };
  return {
    ...result,
    state: stateOf(run.description),
    task: view.input.task,
    workspace: view.input.workspace,
    model: view.input.model.model,
    startedAt: new Date(view.startedAt).toISOString(),
    todos: view.todos,
    messages: view.messages,
    unread: view.unread,
    earlierPartGone: view.earlierPartGone,
    historyBytes: view.historyBytes,
    historyEvents: view.historyEvents,
  };
}
