import { z } from 'zod';
import type { SandboxState } from '../contract/activity';
import type { CommandEnd, CommandState, StartedCommand } from '../workspace/ports';
import { oneLine } from './file-text';
import { pause } from './pause';
import { defineTool } from './tool';
import type { ToolContext, ToolOutput } from './tool';
import { toVisibleText } from './visible-text';

const DEFAULT_TIMEOUT_S = 120;
const MAX_TIMEOUT_S = 1800;
const MAX_POLL_MS = 100;
const PROGRESS_MS = 500;
const PROGRESS_BYTES = 2048;
/** Ends of logs say more than their beginnings. */
const HEAD_SHARE = 0.4;
/** Left over for the sentences after the output. */
const NOTE_BYTES = 700;

export const bashTool = defineTool({
  name: 'bash',
  description: [
    'Runs a bash command in the workspace and returns its output (stdout and stderr in order) and exit code.',
    'Each call is a new shell: directory and variables do not carry over. There is no input and no terminal.',
    'The command runs in a sandbox without network; only the workspace (and a private /tmp) can be written.',
    'Everything it started, background processes too, ends with the call.',
  ].join(' '),
  schema: z.object({
    command: z.string().min(1).describe('The command, as one would type it in bash.'),
    timeout_s: z
      .number()
      .positive()
      .max(MAX_TIMEOUT_S)
      .optional()
      .describe(`Seconds after which it is killed. Default ${DEFAULT_TIMEOUT_S}, at most ${MAX_TIMEOUT_S}.`),
    cwd: z.string().optional().describe('Directory to run in, relative to the workspace. Default: the workspace.'),
    read_only: z
      .boolean()
      .optional()
      .describe('Run with the workspace mounted read-only, for commands that only look.'),
  }),
  effect: 'write',
  runsCommands: true,
  danger: 'Runs a program of the model’s choice.',
  effectOf: (input, sandbox) => (input.read_only === true && sandbox.mode === 'strict' ? 'read' : 'write'),
  summarize: (input) => oneLine(input.command),
  run: async (input, context) => {
    const timeoutS = input.timeout_s ?? DEFAULT_TIMEOUT_S;
    const command = await context.commands.start({
      callId: context.callId,
      command: input.command,
      timeoutMs: Math.round(timeoutS * 1000),
      ...(input.cwd === undefined ? {} : { cwd: input.cwd }),
      ...(input.read_only === undefined ? {} : { readOnly: input.read_only }),
    });
    return await followAndReport(command, timeoutS, context);
  },
  resume: async (command, input, context) =>
    await followAndReport(command, input.timeout_s ?? DEFAULT_TIMEOUT_S, context),
});

async function followAndReport(command: StartedCommand, timeoutS: number, context: ToolContext): Promise<ToolOutput> {
  const state = await follow(command, context);
  return await report(command, { state, timeoutS }, context);
}

/** Waits for the end. A cancel stops the command; `detach` leaves it running under its supervisor. */
async function follow(command: StartedCommand, context: ToolContext): Promise<CommandState> {
  const { commands, signal } = context;
  let shownAt = 0;
  for (let waitMs = 2; ; waitMs = Math.min(MAX_POLL_MS, waitMs * 1.5)) {
    if (signal.aborted) {
      if (signal.reason === 'detach') throw signal.reason;
      await commands.stop(command, 'cancelled');
    }
    const state = await commands.poll(command);
    if (!state.running) return state;
    if (state.durationMs - shownAt >= PROGRESS_MS) {
      shownAt = state.durationMs;
      const { head, tail, totalBytes } = await commands.output(command, { headBytes: 0, tailBytes: PROGRESS_BYTES });
      context.onProgress(toVisibleText(head + tail), totalBytes);
    }
    // An abort ends the pause early; what it means is decided above.
    await pause(waitMs, signal);
  }
}

/** The result for the model: the output, then what became of the command and what to do. */
async function report(
  command: StartedCommand,
  ended: { readonly state: CommandState; readonly timeoutS: number },
  context: ToolContext,
): Promise<ToolOutput> {
  const output = await visibleOutput(command, context);
  const verdict = endSentence(ended, context.sandbox);
  const { state } = ended;
  return {
    text: `${output}\n${verdict.sentence}`,
    ...(verdict.isError ? { isError: true } : {}),
    details: {
      outputFile: command.outputFile,
      ...(state.exitCode === undefined ? {} : { exitCode: state.exitCode }),
    },
  };
}

/** Escapes take more room than what they stand for, so the window shrinks until its text fits. */
async function visibleOutput(command: StartedCommand, context: ToolContext): Promise<string> {
  const room = Math.max(500, context.maxBytes - NOTE_BYTES);
  for (let budget = room; ; budget = Math.floor(budget / 2)) {
    const headBytes = Math.floor(budget * HEAD_SHARE);
    const window = await context.commands.output(command, { headBytes, tailBytes: budget - headBytes });
    const gap = window.omittedBytes === 0 ? '' : `\n${gapNote(window.omittedBytes)}\n`;
    const text = (toVisibleText(window.head) + gap + toVisibleText(window.tail)).replace(/\n$/u, '');
    if (text.trim() === '') return '(no output)';
    if (Buffer.byteLength(text) <= room + NOTE_BYTES / 2 || budget < 100) return text;
  }
}

function gapNote(omittedBytes: number): string {
  return `[… ${omittedBytes} bytes left out here; to see them, write the output to a file and read it in parts …]`;
}

function endSentence(
  ended: { readonly state: CommandState; readonly timeoutS: number },
  sandbox: SandboxState,
): { readonly sentence: string; readonly isError: boolean } {
  const { state, timeoutS } = ended;
  const gone =
    sandbox.mode === 'strict'
      ? 'nothing of it runs any more'
      : 'its processes were killed, as far as they can be found';
  const partly = 'it may have done a part of its work';
  const end = state.end ?? 'unknown';
  const sentences: Record<CommandEnd, string> = {
    exited: `exit code ${state.exitCode ?? 0}`,
    timeout: `timed out after ${timeoutS} s and was killed; ${gone}; ${partly}`,
    cancelled: `cancelled and killed; ${gone}; ${partly}`,
    output_limit: `killed because it wrote too much output (${state.outputBytes} bytes kept); ${gone}; ${partly}`,
    sandbox_failed: 'the sandbox could not be set up; the command did not run',
    not_started: 'the command was not started; it is safe to run it again',
    unknown: `outcome unknown: it was killed from outside; ${gone}; it may have had none, some or all of its effects; it was not repeated; look before you repeat it`,
  };
  return { sentence: `[${sentences[end]}]`, isError: end !== 'exited' || state.exitCode !== 0 };
}
