import { z } from 'zod';
import type { CommandState, StartedCommand } from '../workspace/ports';
import { reportEnd } from './command-report';
import { oneLine } from './file-text';
import { pause } from './pause';
import { defineTool } from './tool';
import type { ToolContext, ToolOutput } from './tool';
import { toVisibleText } from './visible-text';

const DEFAULT_TIMEOUT_S = 120;
const MAX_TIMEOUT_S = 1800;
/** Of a command in the background, which ends with the run at the latest. */
const MAX_BACKGROUND_S = 86_400;
/** A command in the background that cannot even start is reported at once. */
const BACKGROUND_LOOK_MS = 300;
const MAX_POLL_MS = 100;
const PROGRESS_MS = 500;
const PROGRESS_BYTES = 2048;

export const bashTool = defineTool({
  name: 'bash',
  description: [
    'Runs a bash command in the workspace and returns its output (stdout and stderr in order) and exit code.',
    'Each call is a new shell: directory and variables do not carry over. There is no input and no terminal.',
    'Everything it started ends with the call. For a server or a watcher use background: true, which returns an id at',
    'once; bash_output shows what it wrote and whether it still runs, bash_kill ends it, and it ends with the run.',
  ].join(' '),
  schema: z.object({
    command: z.string().min(1).describe('The command, as one would type it in bash.'),
    timeout_s: z
      .number()
      .positive()
      .max(MAX_BACKGROUND_S)
      .optional()
      .describe(
        `Seconds after which it is killed. Default ${DEFAULT_TIMEOUT_S}, at most ${MAX_TIMEOUT_S}; in the background ${MAX_BACKGROUND_S}.`,
      ),
    cwd: z.string().optional().describe('Directory to run in, relative to the workspace. Default: the workspace.'),
    read_only: z
      .boolean()
      .optional()
      .describe('Run with the workspace mounted read-only, for commands that only look.'),
    background: z.boolean().optional().describe('Do not wait for its end.'),
  }),
  effect: 'write',
  runsCommands: true,
  danger: 'Runs a program of the model’s choice.',
  effectOf: (input, sandbox) => (input.read_only === true && sandbox.mode === 'strict' ? 'read' : 'write'),
  summarize: (input) => oneLine(`${input.command}${input.background === true ? ' (in the background)' : ''}`),
  run: async (input, context) => {
    const { timeout_s: given, background } = input;
    if (background !== true && given !== undefined && given > MAX_TIMEOUT_S) {
      const way = 'Use a shorter one, or background: true.';
      return { text: `\`timeout_s\` may be at most ${MAX_TIMEOUT_S}; the command was not run. ${way}`, isError: true };
    }
    const command = await context.commands.start({
      callId: context.callId,
      command: input.command,
      timeoutMs: Math.round(timeoutOf(input) * 1000),
      ...(input.cwd === undefined ? {} : { cwd: input.cwd }),
      ...(input.read_only === undefined ? {} : { readOnly: input.read_only }),
      ...(background === undefined ? {} : { background }),
    });
    return await followAndReport(command, input, context);
  },
  resume: async (command, input, context) => await followAndReport(command, input, context),
});

interface BashInput {
  readonly command: string;
  readonly timeout_s?: number | undefined;
  readonly read_only?: boolean | undefined;
  readonly background?: boolean | undefined;
}

function timeoutOf({ timeout_s: given, background }: BashInput): number {
  return given ?? (background === true ? MAX_BACKGROUND_S : DEFAULT_TIMEOUT_S);
}

async function followAndReport(command: StartedCommand, input: BashInput, context: ToolContext): Promise<ToolOutput> {
  const state = await follow(command, context, input.background === true ? BACKGROUND_LOOK_MS : Infinity);
  if (!state.running) {
    const ended = { state, command: input.command, readOnly: input.read_only === true, timeoutS: timeoutOf(input) };
    return await reportEnd(command, ended, context);
  }
  const { id } = context;
  const text = [
    `Started in the background with the id "${id}".`,
    `bash_output with this id shows its output, bash_kill ends it; it ends with the run at the latest.`,
    `(The whole output is in ${command.outputFile} on the host.)`,
  ];
  return { text: text.join(' '), details: { outputFile: command.outputFile } };
}

/**
 * Waits for the end, but no longer than `maxMs`. A cancel stops the command; `detach` leaves it running under its
 * supervisor.
 */
async function follow(command: StartedCommand, context: ToolContext, maxMs: number): Promise<CommandState> {
  const { commands, signal } = context;
  const since = performance.now();
  let shownAt = 0;
  for (let waitMs = 2; ; waitMs = Math.min(MAX_POLL_MS, waitMs * 1.5)) {
    if (signal.aborted) {
      if (signal.reason === 'detach') throw signal.reason;
      await commands.stop(command, 'cancelled');
    }
    const state = await commands.poll(command);
    if (!state.running || performance.now() - since >= maxMs) return state;
    if (state.durationMs - shownAt >= PROGRESS_MS) {
      shownAt = state.durationMs;
      const { head, tail, totalBytes } = await commands.output(command, { headBytes: 0, tailBytes: PROGRESS_BYTES });
      context.onProgress(toVisibleText(head + tail), totalBytes);
    }
    // An abort ends the pause early; what it means is decided above.
    await pause(waitMs, signal);
  }
}
