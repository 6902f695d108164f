import type { Command } from 'commander';
import { EXIT_CODES } from '../../contract/outcome';
import type { CommandContext } from '../command-context';
import { worst } from '../doctor/check';
import { examine } from '../doctor/examine';
import { renderChecks } from '../doctor/render-checks';
import { addSettingsOption } from '../options';
import { buildId } from '../package-root';

const HELP = `
Looks at Node, the Temporal server with its namespace, search attributes, queues and open runs, the sandbox, the model's
key and the state directory. Each line says what was found; what is not well also why it matters and how to mend it.
Starts nothing and changes nothing but with --fix. Exit code: 0 when nothing fails (warnings are no failure), else 1.
Examples:
  surehand doctor
  surehand doctor --model --json`;

const SCHEMA_VERSION = 1;

interface DoctorFlags {
  readonly settings?: string;
  readonly json?: boolean;
  readonly fix?: boolean;
  readonly model?: boolean;
}

export function registerDoctor(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('doctor').description('look whether all that runs need is there and works'))
    .option('--fix', 'register the search attributes that are missing')
    .option('--model', 'also make one small call of the model (it costs next to nothing)')
    .option(
      '--json',
      'print one JSON document on stdout: {schemaVersion, ok, checks: [{id, state, detail, why, mend}]}',
    )
    .addHelpText('after', HELP)
    .action((flags: DoctorFlags) => doctor(flags, context));
}

async function doctor(flags: DoctorFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const checks = await examine(context.config(flags), {
    command,
    build: buildId(),
    nodeVersion: process.versions.node,
    fix: flags.fix === true,
    model: flags.model === true,
  });
  const ok = worst(checks.map(({ state }) => state)) !== 'fail';
  if (flags.json === true) {
    await io.write(`${JSON.stringify({ schemaVersion: SCHEMA_VERSION, ok, checks }, null, 2)}\n`);
  } else {
    await io.write(`${renderChecks(checks, io).join('\n')}\n`);
  }
  context.exitWith(ok ? EXIT_CODES.done : EXIT_CODES.failed);
}
