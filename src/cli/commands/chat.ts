import type { Command } from 'commander';
import { openChatInput } from '../chat-input';
import { chatWith, unknownCommand } from '../chat';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { requireRun } from '../existing-run';
import { addRunOptions, addSettingsOption } from '../options';
import type { RunFlags } from '../run-request';
import { checkRunFlags, checkText } from '../run-request';
import { findRun, startRun } from '../start-run';
import { watchStopSignals } from '../stop-signals';
import { patienceMs, startFlags } from './run';

const HELP = `
At the prompt: a line is a message · /help · /exit ends the chat · /detach (or Ctrl-D, Ctrl-C) leaves it open.
Come back to an open chat with its id. Answers go to stdout, everything else to stderr; lines of a pipe work, too.
Examples:
  surehand chat --workspace ~/src/shop
  surehand chat "where is the login handled?"
  surehand chat --id where-is-the-login-k3f9`;

export function registerChat(program: Command, context: CommandContext): void {
  const command = program.command('chat [message]').description('a conversation: it waits for your next message');
  addSettingsOption(addRunOptions(command))
    .addHelpText('after', HELP)
    .action((message: string | undefined, flags: RunFlags) => chat(message, flags, context));
}

async function chat(message: string | undefined, flags: RunFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const config = context.config(flags);
  const signals = watchStopSignals();
  const check = () => checkRunFlags(flags, { config, nobodyAnswers: config.ci });
  // Checked before anybody types; a chat that is there already has all this.
  const request = flags.id === undefined ? check() : undefined;
  const first = message === undefined ? undefined : checkText(message, 'message');
  const input = openChatInput(io);
  const use = withSession(
    context,
    config,
    async (session) => {
      const talk = { io, command, input, signals, user: config.user, patienceMs: patienceMs(config, false) };
      const open = flags.id === undefined ? undefined : await findRun(session, flags.id);
      if (open !== undefined && flags.again !== true) {
        const run = await requireRun(session, open.workflowId, context);
        return chatWith(session, run, { ...talk, isNew: false, ...(first === undefined ? {} : { first }) });
      }
      const asked = request ?? check();
      const task = first ?? (await firstMessage(talk));
      if (task === undefined) return 0;
      const options = { config, command, ...startFlags(flags), kind: 'chat' as const };
      const started = await startRun(session, { ...asked, task }, options);
      io.say(io.colors.dim(`chat ${started.workflowId}`));
      return chatWith(session, await requireRun(session, started.workflowId, context), { ...talk, isNew: true });
    },
    { starts: request?.model.provider !== 'scripted' },
  );
  context.exitWith(
    await use.finally(() => {
      input.close();
      signals.dispose();
    }),
  );
}

/** `undefined` when the person leaves before having said anything: then nothing is started. */
async function firstMessage({ io, input }: Pick<Parameters<typeof chatWith>[2], 'io' | 'input'>) {
  for (;;) {
    const typed = await input.next();
    if (typed.kind === 'text') return typed.text;
    if (typed.kind === 'exit' || typed.kind === 'detach') return undefined;
    io.say(typed.kind === 'help' ? HELP.trim() : unknownCommand(typed.command));
  }
}
