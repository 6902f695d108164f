import type { Command } from 'commander';
import { EXIT_USAGE } from '../../contract/outcome';
import { CliError } from '../cli-error';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { createEnvelope } from '../envelope';
import { requireRun } from '../existing-run';
import { addSettingsOption } from '../options';
import { checkText, readAll } from '../run-request';
import { sendEnvelope } from '../send-envelope';
import type { Sent } from '../send-envelope';
import { visibleText } from '../visible-text';

const HELP = `
The conversation takes the message in before its next turn, in the order sent, once. Works also while no worker runs.
Examples:
  surehand send fix-the-failing-test-k3f9 "leave the public API as it is"
  surehand send fix-the-failing-test-k3f9 - < review.md`;

const ANSWER_WITHIN_MS = 10_000;

interface SendFlags {
  readonly settings?: string;
  readonly json?: boolean;
}

export function registerSend(program: Command, context: CommandContext): void {
  const command = program.command('send <id> <text>').description('send a message to a running conversation');
  addSettingsOption(command)
    .option('--json', 'print {"id", "status", "place"} on stdout')
    .addHelpText('after', HELP)
    .action((id: string, text: string, flags: SendFlags) => send(id, text, flags, context));
}

async function send(id: string, given: string, flags: SendFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const config = context.config(flags);
  const text = checkText(given === '-' ? await readAll(io.stdin, 'message') : given, 'message');
  await withSession(context, config, async (session) => {
    const run = await requireRun(session, id, context);
    if (!run.open) {
      const shown = visibleText(id);
      throw new CliError(
        EXIT_USAGE,
        `The run ${shown} has ended, so it takes nothing in any more. Read it: ${command} show ${shown}`,
      );
    }
    const envelope = createEnvelope('message', { text }, config.user);
    const sent = await sendEnvelope(session, run, envelope, { command, timeoutMs: ANSWER_WITHIN_MS });
    if (flags.json === true) await io.write(`${JSON.stringify(sent, null, 2)}\n`);
    io.say(describe(sent));
  });
}

function describe(sent: Sent): string {
  if (sent.status === 'stored') return 'Stored; it takes effect when a worker starts.';
  return sent.place === 1
    ? 'Queued; it is taken in at the next turn.'
    : `Queued at place ${String(sent.place)}; it is taken in at the next turn with those before it.`;
}
