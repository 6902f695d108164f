import type { Command } from 'commander';
import { EXIT_CODES } from '../../contract/outcome';
import { cancelRun } from '../cancel-run';
import { CliError } from '../cli-error';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { untilProblem } from '../diagnose';
import { readView, requireRun } from '../existing-run';
import { followRun } from '../follow-run';
import { addSettingsOption } from '../options';
import { renderEnd } from '../render-result';
import { resultOf } from '../result';
import { visibleText } from '../visible-text';

const HELP = `
Stops what runs, records it, and ends the run as cancelled. Doing it twice is fine.
Example:
  surehand cancel fix-the-failing-test-k3f9`;

const WAIT_MS = 30_000;

export function registerCancel(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('cancel <id>').description('end a run and wait until it has ended'))
    .addHelpText('after', HELP)
    .action((id: string, flags: { readonly settings?: string }) => cancel(id, flags, context));
}

async function cancel(id: string, flags: { readonly settings?: string }, context: CommandContext): Promise<void> {
  const { io, command } = context;
  await withSession(context, context.config(flags), async (session) => {
    const run = await requireRun(session, id, context);
    const shown = visibleText(id);
    if (!run.open || !(await cancelRun(session, id))) {
      const { outcome } = resultOf(await readView(session, run));
      io.say(`The run ${shown} had ended already: ${outcome}.`);
      return;
    }
    const leave = new AbortController();
    const signal = AbortSignal.any([AbortSignal.timeout(WAIT_MS), leave.signal]);
    const problem = untilProblem(session, id, { command, signal }).finally(() => leave.abort());
    const view = await followRun(session, {
      workflowId: id,
      runId: run.runId,
      signal,
      patienceMs: WAIT_MS,
      onView: () => undefined,
      onTrouble: (line) => io.say(line),
    });
    if (view !== undefined) {
      io.say(renderEnd(resultOf(view), io).join('\n'));
      return;
    }
    const next = (await problem) ?? `Look at it again: ${command} show ${shown}`;
    throw new CliError(EXIT_CODES.unavailable, `The cancellation is stored, but the run has not ended yet. ${next}`);
  });
}
