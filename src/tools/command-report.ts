import type { SandboxState } from '../contract/activity';
import type { CommandEnd, CommandState, StartedCommand } from '../workspace/ports';
import type { ToolContext, ToolOutput } from './tool';
import { toVisibleText } from './visible-text';

/** Ends of logs say more than their beginnings. */
const HEAD_SHARE = 0.4;
/** Left over for the sentences after the output. */
const NOTE_BYTES = 900;

/** What became of a command, and what of its call the sentences need. */
export interface EndedCommand {
  readonly state: CommandState;
  readonly command: string;
  readonly readOnly?: boolean;
  /** `undefined`: it was to run as long as the run. */
  readonly timeoutS?: number;
}

/** The result for the model: the output, then what became of the command and what to do. */
export async function reportEnd(
  started: StartedCommand,
  ended: EndedCommand,
  context: ToolContext,
): Promise<ToolOutput> {
  const output = await visibleOutput(started, context);
  const isError = ended.state.end !== 'exited' || ended.state.exitCode !== 0;
  const hint = isError ? networkHint(output, context.sandbox, ended.readOnly ?? false) : '';
  const { exitCode } = ended.state;
  return {
    text: `${output}\n[${endSentence(ended, context.sandbox)}]${hint}`,
    ...(isError ? { isError } : {}),
    details: { outputFile: started.outputFile, ...(exitCode === undefined ? {} : { exitCode }) },
  };
}

/** Escapes take more room than what they stand for, so the window shrinks until its text fits. */
async function visibleOutput(command: StartedCommand, context: ToolContext): Promise<string> {
  const room = Math.max(500, context.maxBytes - NOTE_BYTES);
  for (let budget = room; ; budget = Math.floor(budget / 2)) {
    const headBytes = Math.floor(budget * HEAD_SHARE);
    const window = await context.commands.output(command, { headBytes, tailBytes: budget - headBytes });
    const gap = window.omittedBytes === 0 ? '' : `\n${gapNote(window, context.id)}\n`;
    const text = (toVisibleText(window.head) + gap + toVisibleText(window.tail)).replace(/\n$/u, '');
    if (text.trim() === '') return '(no output)';
    if (Buffer.byteLength(text) <= room + NOTE_BYTES / 2 || budget < 100) return text;
  }
}

function gapNote(
  { omittedBytes, headBytes }: { readonly omittedBytes: number; readonly headBytes: number },
  id: string,
): string {
  return `[… ${omittedBytes} bytes left out here; bash_output with id "${id}" and offset ${headBytes} shows them …]`;
}

/** What became of it, in words. */
export function endSentence({ state, command, timeoutS }: EndedCommand, sandbox: SandboxState): string {
  const gone =
    sandbox.mode === 'strict'
      ? 'nothing of it runs any more'
      : 'its processes were killed, as far as they can be found';
  const partly = 'it may have done a part of its work';
  const after = timeoutS === undefined ? '' : ` after ${timeoutS} s`;
  const sentences: Record<CommandEnd, string> = {
    exited: `exit code ${state.exitCode ?? 0}${leavesJobs(command) ? `; what it left in the background has ended with it` : ''}`,
    timeout: `timed out${after} and was killed; ${gone}; ${partly}`,
    cancelled: `cancelled and killed; ${gone}; ${partly}`,
    output_limit: `killed because it wrote too much output (${state.outputBytes} bytes kept); ${gone}; ${partly}`,
    sandbox_failed: 'the sandbox could not be set up; the command did not run',
    not_started: 'the command was not started; it is safe to run it again',
    unknown: `outcome unknown: it was killed from outside; ${gone}; it may have had none, some or all of its effects; it was not repeated; look before you repeat it`,
  };
  return sentences[state.end ?? 'unknown'];
}

/** Whether it looks as if it was to leave something running. What it says is true for any command. */
function leavesJobs(command: string): boolean {
  return /(?:^|[^&>|\\])&(?![&>])|\b(?:nohup|setsid|disown|coproc|daemon)\b/u.test(command.replace(/\d*>&\d*/gu, ''));
}

/** How programs say that a name or a host cannot be reached. */
const NO_NETWORK = new RegExp(
  [
    'could not resolve (?:host|proxy)',
    '(?:temporary failure in )?name resolution',
    'name or service not known',
    'network is unreachable',
    'getaddrinfo',
    'ENOTFOUND|EAI_AGAIN|ENETUNREACH',
    'no address associated with hostname',
    'unable to resolve host address',
    'failed to lookup address',
    'no such host',
    'failed to connect to (?!localhost|127\\.|\\[?::1)\\S+ port',
    'CONNECT tunnel failed, response 403',
    'tunneling socket could not be established, statuscode=403',
    'tunnel connection failed: 403',
  ].join('|'),
  'iu',
);

function networkHint(output: string, { mode, network }: SandboxState, readOnly: boolean): string {
  if (mode !== 'strict' || !NO_NETWORK.test(output)) return '';
  const hosts = network ?? [];
  if (hosts.length > 0 && readOnly)
    return '\n[Commands have no network with read_only. Leave it out if the network is needed.]';
  const why =
    hosts.length === 0
      ? 'Commands have no network here'
      : `Commands can reach these hosts only, by HTTP and HTTPS: ${hosts.join(', ')}`;
  return `\n[${why}. Trying again does not help: go on without it, or say what is needed and that a person has to allow the host in the settings (network).]`;
}
