import { z } from 'zod';
import type { CommandState, StartedCommand } from '../workspace/ports';
import { endSentence } from './command-report';
import { oneLine } from './file-text';
import { pause } from './pause';
import { defineTool } from './tool';
import type { ToolContext, ToolOutput } from './tool';
import { toVisibleText } from './visible-text';

const MAX_WAIT_S = 300;
const POLL_MS = 50;
/** Left over for the sentence after the output. */
const NOTE_BYTES = 400;
const COMMAND_ID = /^[\w-]{1,100}$/u;

export const bashOutputTool = defineTool({
  name: 'bash_output',
  description: [
    'Shows what a command of bash wrote and whether it still runs: one in the background, or one that has ended and whose',
    'output was cut. Without offset it shows the end of the output; each result names the offset to read on from.',
  ].join(' '),
  schema: z.object({
    id: z.string().describe('The id that bash returned.'),
    offset: z.int().min(0).optional().describe('Byte of the output to begin at.'),
    wait_s: z
      .number()
      .positive()
      .max(MAX_WAIT_S)
      .optional()
      .describe(
        `Wait so many seconds at most, until it ends or, with offset, until there is output after it. At most ${MAX_WAIT_S}.`,
      ),
  }),
  effect: 'read',
  summarize: (input) => oneLine(input.id),
  run: async (input, context) => {
    const command = findCommand(input.id, context);
    if (command === undefined) return unknownCommand(input.id);
    const state = await waitFor(command, input, context);
    return await showOutput(command, { ...input, state }, context);
  },
});

/** A command of this run by the id that the model was given. */
export function findCommand(id: string, context: ToolContext): StartedCommand | undefined {
  return COMMAND_ID.test(id) ? context.commands.find(context.keyOf(id)) : undefined;
}

export function unknownCommand(id: string): ToolOutput {
  const text = `There is no command with the id "${toVisibleText(oneLine(id))}" in this run. Use the id that bash returned.`;
  return { text, isError: true };
}

async function waitFor(
  command: StartedCommand,
  wanted: { readonly offset?: number | undefined; readonly wait_s?: number | undefined },
  { commands, signal }: ToolContext,
): Promise<CommandState> {
  const until = performance.now() + (wanted.wait_s ?? 0) * 1000;
  for (;;) {
    signal.throwIfAborted();
    const state = await commands.poll(command);
    const hasMore = wanted.offset !== undefined && state.outputBytes > wanted.offset;
    if (!state.running || hasMore || performance.now() >= until) return state;
    await pause(POLL_MS, signal);
  }
}

async function showOutput(
  command: StartedCommand,
  shown: { readonly id: string; readonly offset?: number | undefined; readonly state: CommandState },
  context: ToolContext,
): Promise<ToolOutput> {
  const { state } = shown;
  const room = Math.max(200, context.maxBytes - NOTE_BYTES);
  for (let budget = room; ; budget = Math.floor(budget / 2)) {
    const from = shown.offset ?? Math.max(0, state.outputBytes - budget);
    const part = await context.commands.read(command, { from, maxBytes: budget });
    const text = toVisibleText(part.text).replace(/\n$/u, '');
    if (Buffer.byteLength(text) > room && budget >= 100) continue;
    const place =
      part.from === part.to
        ? `no output from byte ${part.from} on`
        : `bytes ${part.from}-${part.to} of ${part.totalBytes}`;
    const more = part.to < part.totalBytes || state.running ? `; read on with offset ${part.to}` : '';
    const how = state.running
      ? `runs since ${Math.round(state.durationMs / 1000)} s`
      : `has ended: ${endSentence({ state, command: '' }, context.sandbox)}`;
    return {
      text: `${text === '' ? '' : `${text}\n`}[${shown.id} ${how}; ${place}${more}]`,
      details: {
        outputFile: command.outputFile,
        ...(state.exitCode === undefined ? {} : { exitCode: state.exitCode }),
      },
    };
  }
}
