import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { toolList } from '../../config';
import { EXIT_USAGE } from '../../contract/outcome';
import { CliError } from '../cli-error';
import type { CommandContext } from '../command-context';
import { addSettingsOption, addToolsOption } from '../options';

const HELP = `
Serves the shared workflow queue and this host's own queue of a Temporal server, until SIGTERM or Ctrl-C: then it takes
nothing new, ends what it does (a command goes on without it and is met again), and exits with 0; a second signal ends it
at once. Any number of workers may serve the shared queue, one serves a state directory. Exit codes: 2 configuration, 3
credentials refused, 6 Temporal not reachable.
Example:
  TEMPORAL_ADDRESS=temporal.example:7233 surehand worker --health-port 8081
  TEMPORAL_ADDRESS=temporal.example:7233 surehand worker --tools ./tickets.mjs
  curl http://127.0.0.1:8081/healthz`;

export function registerWorker(program: Command, context: CommandContext): void {
  const command = program.command('worker').description('work for a Temporal server that is already there');
  addToolsOption(addSettingsOption(command))
    .option('--sandbox <strict|off>', 'off: commands of the agent run without a sandbox')
    .option('--health-port <port>', 'answer GET /healthz on this port of loopback; 0: do not (SUREHAND_HEALTH_PORT)')
    .addHelpText('after', HELP)
    .action((flags: WorkerFlags) => work(flags, context));
}

interface WorkerFlags {
  readonly settings?: string;
  readonly sandbox?: string;
  readonly healthPort?: string;
  readonly tools?: readonly string[];
}

async function work(flags: WorkerFlags, context: CommandContext): Promise<void> {
  const config = context.config({ ...flags, forWorker: true });
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
    SUREHAND_TOOLS: toolList(config),
    SUREHAND_HEALTH_PORT: String(config.worker.healthPort),
  };
  // The channel tells it when this process is gone, however that ends: two must not be left where one was started.
  const child = spawn(process.execPath, [entry], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
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
