import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { EXIT_USAGE } from '../../contract/outcome';
import { CliError } from '../cli-error';
import type { CommandContext } from '../command-context';
import { addSettingsOption } from '../options';

const HELP = `
Serves the shared workflow queue and this host's own queue of a Temporal server, until SIGTERM or Ctrl-C.
Example:
  TEMPORAL_ADDRESS=temporal.example:7233 surehand worker`;

export function registerWorker(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('worker').description('work for a Temporal server that is already there'))
    .option('--sandbox <strict|off>', 'off: commands of the agent run without a sandbox')
    .addHelpText('after', HELP)
    .action((flags: WorkerFlags) => work(flags, context));
}

interface WorkerFlags {
  readonly settings?: string;
  readonly sandbox?: string;
}

async function work(flags: WorkerFlags, context: CommandContext): Promise<void> {
  const config = context.config(flags);
  if (config.temporal.mode === 'embedded') {
    throw new CliError(
      EXIT_USAGE,
      'No Temporal server is configured. Set TEMPORAL_ADDRESS; without it every command starts a local server with its own worker.',
    );
  }
  const entry = path.join(__dirname, '..', '..', 'worker.js');
  if (!existsSync(entry)) throw new CliError(EXIT_USAGE, `The worker ${entry} is missing. Build it: npm run build`);
  const env = {
    ...config.env,
    ...(flags.settings === undefined ? {} : { SUREHAND_SETTINGS: path.resolve(flags.settings) }),
    SUREHAND_SANDBOX: config.worker.sandbox,
  };
  const child = spawn(process.execPath, [entry], { stdio: 'inherit', env });
  // Ctrl-C reaches the child as well; it ends in its own time, and we with it.
  const ignore = (): void => undefined;
  const passOn = (): void => void child.kill('SIGTERM');
  process.on('SIGINT', ignore).on('SIGTERM', passOn);
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('exit', (exit, signal) => resolve(exit ?? (signal === 'SIGINT' ? 130 : 143)));
  });
  process.off('SIGINT', ignore).off('SIGTERM', passOn);
  context.exitWith(code);
}
