import { Command, CommanderError } from 'commander';
import { EXIT_USAGE } from '../contract/outcome';
import { CliError } from './cli-error';
import type { CommandContext } from './command-context';
import { registerAbandon } from './commands/abandon';
import { registerAttach } from './commands/attach';
import { registerCancel } from './commands/cancel';
import { registerChat } from './commands/chat';
import { registerDemo } from './commands/demo';
import { registerDev } from './commands/dev';
import { registerDoctor } from './commands/doctor';
import { registerDown } from './commands/down';
import { registerGc } from './commands/gc';
import { registerList } from './commands/list';
import { registerLogs } from './commands/logs';
import { registerResult } from './commands/result';
import { registerRun } from './commands/run';
import { registerSend } from './commands/send';
import { registerShow } from './commands/show';
import { registerStart } from './commands/start';
import { registerWorker } from './commands/worker';
import { packageVersion } from './package-root';

const HELP = `
Start here:
  surehand demo                                     a recorded model repairs a sample project; no key needed
  surehand run "fix the failing test" -w DIR        with ANTHROPIC_API_KEY set
  surehand list                                     what is there
Environment: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, SUREHAND_MODEL, SUREHAND_HOME, TEMPORAL_ADDRESS and the like.
Each command says more with --help.`;

function createProgram(context: CommandContext): Command {
  const program = new Command('surehand')
    .description('A durable coding agent: every conversation is one Temporal workflow.')
    .version(packageVersion())
    .addHelpText('after', HELP)
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      // What help is asked for is output; the rest is for people.
      writeErr: (text) => context.io.say(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'surehand: ')),
    });
  const follow = [registerRun, registerStart, registerChat, registerAttach, registerSend];
  const look = [registerList, registerShow, registerResult];
  for (const register of [
    ...follow,
    ...look,
    registerCancel,
    registerAbandon,
    registerDemo,
    registerWorker,
    registerDev,
    registerDoctor,
    registerLogs,
    registerGc,
    registerDown,
  ]) {
    register(program, context);
  }
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

/** Runs one command line. @throws CliError, and whatever the command throws. */
export async function runProgram(args: readonly string[], context: CommandContext): Promise<void> {
  const program = createProgram(context);
  try {
    if (args.length === 0) {
      program.outputHelp({ error: true });
      context.exitWith(EXIT_USAGE);
      return;
    }
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // commander has said what is wrong.
    if (error.exitCode !== 0) throw new CliError(EXIT_USAGE, '', { cause: error });
  }
}
