import type { Command } from 'commander';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { hasWorker } from '../diagnose';
import { addRunOptions, addSettingsOption } from '../options';
import type { RunFlags } from '../run-request';
import { readRunRequest } from '../run-request';
import { startRun } from '../start-run';
import { startFlags } from './run';

const HELP = `
Examples:
  id=$(surehand start "update the dependencies" --workspace ~/src/shop)
  surehand attach "$id"
  surehand result "$id" --json`;

export function registerStart(program: Command, context: CommandContext): void {
  const command = program.command('start <task>').description('start a task, print the id of its run, and return');
  addSettingsOption(addRunOptions(command))
    .option('--json', 'print {"workflowId", "runId", "state"} instead of the id alone')
    .addHelpText('after', HELP)
    .action((task: string, flags: RunFlags) => start(task, flags, context));
}

async function start(task: string, flags: RunFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const config = context.config(flags);
  const request = await readRunRequest(task, flags, { config, io, nobodyAnswers: config.ci });
  await withSession(
    context,
    config,
    async (session) => {
      const started = await startRun(session, request, { config, command, ...startFlags(flags) });
      await io.write(flags.json === true ? `${JSON.stringify(started, null, 2)}\n` : `${started.workflowId}\n`);
      if (!session.embedded && !(await hasWorker(session))) {
        io.say(`No worker serves this host yet, so the run waits. Start one here: ${command} worker`);
      }
      const next = started.state === 'finished' ? 'show' : 'attach';
      const link = session.uiLink(started.workflowId, started.runId);
      io.say(io.colors.dim(`Look: ${command} ${next} ${started.workflowId}${link === undefined ? '' : ` · ${link}`}`));
    },
    { starts: request.model.provider !== 'scripted' },
  );
}
