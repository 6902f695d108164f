import type { Command } from 'commander';
import { EXIT_USAGE } from '../../contract/outcome';
import { stopDaemon } from '../../server/daemon-client';
import { CliError } from '../cli-error';
import type { CommandContext } from '../command-context';
import { addSettingsOption } from '../options';

const HELP = `
Runs that are open stay as they are, and go on when the next command starts the server and worker again.`;

export function registerDown(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('down').description('stop the local server and worker that surehand left running'))
    .addHelpText('after', HELP)
    .action((flags: { readonly settings?: string }) => down(flags, context));
}

async function down(flags: { readonly settings?: string }, context: CommandContext): Promise<void> {
  const config = context.config(flags);
  if (config.temporal.mode === 'server') {
    throw new CliError(
      EXIT_USAGE,
      `TEMPORAL_ADDRESS names a server that surehand did not start (${config.temporal.target.address}); there is nothing to stop here.`,
    );
  }
  const what = await stopDaemon(config.home);
  context.io.say(
    what === 'stopped'
      ? 'Stopped the local server and worker. Nothing is left running; open runs go on at the next command.'
      : 'Nothing was running.',
  );
}
