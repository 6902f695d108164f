import type { Command } from 'commander';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { requireRun } from '../existing-run';
import { addOutputOptions, addSettingsOption } from '../options';
import type { RunFlags } from '../run-request';
import { watchStopSignals } from '../stop-signals';
import { watchRun } from '../watch-run';
import { outputForm, patienceMs } from './run';

const HELP = `
Shows the run from its beginning and follows it to its end; the exit code is the run's. Ctrl-C leaves the run alone.
Example:
  surehand attach fix-the-failing-test-k3f9`;

export function registerAttach(program: Command, context: CommandContext): void {
  const command = program.command('attach <id>').description('follow a run until it ends');
  addOutputOptions(addSettingsOption(command))
    .addHelpText('after', HELP)
    .action((id: string, flags: RunFlags) => attach(id, flags, context));
}

async function attach(id: string, flags: RunFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const config = context.config(flags);
  const signals = watchStopSignals();
  const use = withSession(context, config, async (session) => {
    const run = await requireRun(session, id, context);
    return watchRun(session, {
      io,
      command,
      signals,
      workflowId: run.workflowId,
      runId: run.runId,
      output: outputForm(flags),
      onStop: 'detach',
      patienceMs: patienceMs(config, config.ci),
    });
  });
  context.exitWith(await use.finally(() => signals.dispose()));
}
