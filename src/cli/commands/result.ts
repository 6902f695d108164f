import type { Command } from 'commander';
import { EXIT_USAGE } from '../../contract/outcome';
import { CliError } from '../cli-error';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { readView, requireRun } from '../existing-run';
import { addSettingsOption } from '../options';
import { renderEnd } from '../render-result';
import { exitCodeOf, resultOf } from '../result';
import { visibleText } from '../visible-text';
import { printAnswer } from '../watch-run';

const HELP = `
Prints the answer of a run that has ended; the exit code is the run's.
Example:
  surehand result fix-the-failing-test-k3f9 --json`;

export function registerResult(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('result <id>').description('print the result of a run that has ended'))
    .option('--json', 'print exactly one JSON document on stdout, the result')
    .addHelpText('after', HELP)
    .action((id: string, flags: ResultFlags) => printResult(id, flags, context));
}

interface ResultFlags {
  readonly json?: boolean;
  readonly settings?: string;
}

async function printResult(id: string, flags: ResultFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  await withSession(context, context.config(flags), async (session) => {
    const run = await requireRun(session, id, context);
    const view = await readView(session, run);
    if (!view.closed) {
      const shown = visibleText(id);
      throw new CliError(
        EXIT_USAGE,
        `The run ${shown} has not ended yet, so it has no result. Follow it: ${command} attach ${shown}`,
      );
    }
    const result = resultOf(view);
    if (flags.json === true) await io.write(`${JSON.stringify(result, null, 2)}\n`);
    else {
      await printAnswer(result.text, io);
      io.say(renderEnd(result, io).join('\n'));
    }
    context.exitWith(exitCodeOf(result));
  });
}
