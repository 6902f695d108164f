import type { RunView } from '../transcript/view';
import type { ChatInput, Typed } from './chat-input';
import { createEnvelope } from './envelope';
import type { ExistingRun } from './existing-run';
import { readView } from './existing-run';
import { followRun } from './follow-run';
import type { Io } from './io';
import { createLiveView } from './live-view';
import { renderEnd } from './render-result';
import { exitCodeOf, resultOf } from './result';
import { sendEnvelope } from './send-envelope';
import type { Session } from './session';
import type { StopSignals } from './stop-signals';
import { stopExitCode } from './stop-signals';
import { visibleLine, visibleText } from './visible-text';
import { printAnswer, watchServer } from './watch-run';

export interface Talk {
  readonly io: Io;
  readonly command: string;
  readonly input: ChatInput;
  readonly signals: StopSignals;
  /** Who speaks. */
  readonly user: string;
  /** How long Temporal may be away before the command gives up. */
  readonly patienceMs: number;
  /** It begins with this command, so all its answers are answers of now. */
  readonly isNew: boolean;
  /** Said at once, before anything is typed. */
  readonly first?: string;
}

const ANSWER_WITHIN_MS = 10_000;
const HELP = [
  'A line is a message. /exit ends the chat, /detach (or Ctrl-D) leaves it open to come back to, /help says this.',
  'A message that begins with a slash is written with two.',
];

export function unknownCommand(command: string): string {
  return `There is no ${visibleLine(command, 40)}. /help says what there is.`;
}

/** Talks with an open chat until the person leaves or it ends. Answers the exit code. @throws CliError */
export async function chatWith(session: Session, run: ExistingRun, talk: Talk): Promise<number> {
  const { io, command } = talk;
  const shown = talk.isNew ? 0 : await turnsBefore(session, run);
  const conversation = follow(session, run, talk, shown);
  const stopped = talk.signals.next();
  const sent = new Set<string>();
  let first = talk.first;
  try {
    for (;;) {
      const rest = await Promise.race([conversation.rest(sent), stopped]);
      if (typeof rest === 'string') return leave(run, talk, stopExitCode(rest));
      if (rest.closed) return printEnd(rest, io);
      const typed =
        first === undefined ? await Promise.race([talk.input.next(), stopped, conversation.over]) : say(first);
      first = undefined;
      if (typed === undefined) continue;
      if (typeof typed === 'string') return leave(run, talk, stopExitCode(typed));
      if (typed.kind === 'detach') return leave(run, talk, 0);
      const envelope = toEnvelope(typed, talk);
      if (envelope === undefined) {
        io.say(typed.kind === 'unknown' ? unknownCommand(typed.command) : HELP.join('\n'));
        continue;
      }
      const { id, status } = await sendEnvelope(session, run, envelope, { command, timeoutMs: ANSWER_WITHIN_MS });
      if (status === 'stored') io.say('Stored; it takes effect when a worker starts.');
      sent.add(id);
    }
  } finally {
    conversation.end();
  }
}

/** The turns of an open chat that were answered before somebody came back to it. */
async function turnsBefore(session: Session, run: ExistingRun): Promise<number> {
  const { turns, atRest } = await readView(session, run);
  return atRest ? turns.length : turns.length - 1;
}

function say(text: string): Typed {
  return { kind: 'text', text };
}

function toEnvelope(typed: Typed, { user }: Talk) {
  if (typed.kind === 'text') return createEnvelope('message', { text: typed.text }, user);
  return typed.kind === 'exit' ? createEnvelope('stop', {}, user) : undefined;
}

interface Conversation {
  /** The next view in which all that was sent is answered, or which is the last. Its answers are printed by then. */
  rest(sent: ReadonlySet<string>): Promise<RunView>;
  /** Settles when the run has ended. */
  readonly over: Promise<undefined>;
  end(): void;
}

/** @param shown turns whose text is known already: it is shown, but it is no answer of now. */
function follow(session: Session, run: ExistingRun, talk: Talk, shown: number): Conversation {
  const { io } = talk;
  const leaving = new AbortController();
  const live = createLiveView(io, { isAnswer: ({ turn, steps }) => turn > shown && steps.length === 0 });
  let latest: RunView | undefined;
  let wake = (): void => undefined;
  const following = followRun(session, {
    workflowId: run.workflowId,
    runId: run.runId,
    signal: leaving.signal,
    patienceMs: talk.patienceMs,
    onTrouble: (line) => io.say(io.colors.yellow(`surehand: ${line}`)),
    onView: (view) => {
      live.update(view);
      latest = view;
      wake();
    },
  });
  const over = following.then(() => undefined);
  over.catch(() => undefined);
  const options = { io, workflowId: run.workflowId, command: talk.command };
  const watcher = watchServer(session, options, live);
  let answered = shown;
  const printAnswers = async ({ turns }: RunView): Promise<void> => {
    for (const { turn, steps, text, status } of turns) {
      if (turn <= answered || steps.length > 0 || status !== 'done') continue;
      answered = turn;
      await printAnswer(text, io);
    }
  };
  return {
    over,
    rest: async (sent) => {
      for (;;) {
        const view = latest;
        if (view?.closed === true || (view?.atRest === true && hasAll(view, sent))) {
          live.end();
          await printAnswers(view);
          return view;
        }
        const next = new Promise<void>((resolve) => (wake = resolve));
        await Promise.race([next, following]);
      }
    },
    end: () => {
      watcher.stop();
      live.end();
      leaving.abort();
    },
  };
}

function hasAll({ received }: RunView, sent: ReadonlySet<string>): boolean {
  return [...sent].every((id) => received.includes(id));
}

function leave({ workflowId }: ExistingRun, { io, command }: Talk, exitCode: number): number {
  const shown = visibleText(workflowId);
  io.say(`\nThe chat stays open. Come back: ${command} chat --id ${shown} · end it: ${command} cancel ${shown}`);
  return exitCode;
}

function printEnd(view: RunView, io: Io): number {
  const result = resultOf(view);
  io.say(renderEnd(result, io).join('\n'));
  return exitCodeOf(result);
}
