import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT_CODES } from '../contract/outcome';
import type { RunView } from '../transcript/view';
import { cancelRun } from './cancel-run';
import { diagnose } from './diagnose';
import { followRun } from './follow-run';
import type { Io } from './io';
import { createLiveView } from './live-view';
import { describePending } from './pending';
import { renderDiffs, renderEnd } from './render-result';
import { exitCodeOf, resultOf } from './result';
import type { Session } from './session';
import { stopExitCode } from './stop-signals';
import type { StopSignals } from './stop-signals';
import { createEventSource } from './stream-events';
import { visibleText } from './visible-text';

export type OutputForm = 'people' | 'json' | 'stream-json';

export interface WatchOptions {
  readonly io: Io;
  readonly workflowId: string;
  readonly runId: string;
  readonly output: OutputForm;
  /** How the person calls the program. */
  readonly command: string;
  /** What Ctrl-C and SIGTERM mean: end the run, or only this command. */
  readonly onStop: 'cancel' | 'detach';
  readonly signals: StopSignals;
  /** How long Temporal may be away before the command gives up. */
  readonly patienceMs: number;
  /** Lines after everything else. */
  readonly footer?: readonly string[];
}

const TERMINAL_POLL_MS = 1_000;
const LOG_POLL_MS = 5_000;
const DIAGNOSE_EVERY_MS = 5_000;
/** After SIGTERM a supervisor kills us soon; what the run still does it does without us. */
const TERMINATE_WITHIN_MS = 9_000;

/**
 * Follows a run to its end and prints it: what happens to stderr, the answer (or the promised JSON) to stdout.
 * Answers the exit code.
 */
export async function watchRun(session: Session, options: WatchOptions): Promise<number> {
  const { io, signals } = options;
  const leave = new AbortController();
  const live = createLiveView(io);
  const events = createEventSource();
  let writing = Promise.resolve();
  const following = followRun(session, {
    workflowId: options.workflowId,
    runId: options.runId,
    signal: leave.signal,
    patienceMs: options.patienceMs,
    onTrouble: (line) => io.say(io.colors.yellow(`surehand: ${line}`)),
    onView: (view) => {
      live.update(view);
      if (options.output !== 'stream-json') return;
      const lines = events(view).map((event) => `${JSON.stringify(event)}\n`);
      if (lines.length > 0) writing = writing.then(() => io.write(lines.join('')));
      // Reported below; without this a reader that has gone would end the process at once.
      writing.catch(() => leave.abort());
    },
  });
  following.catch(() => undefined);
  const watcher = watchServer(session, options, live);
  try {
    const stopped = await untilStop(following, signals, { session, options });
    live.end();
    await writing;
    if (stopped !== undefined && stopped.view === undefined) {
      leave.abort();
      return stopped.exitCode;
    }
    const view = stopped?.view ?? (await following);
    if (view === undefined) return EXIT_CODES.failed;
    const exitCode = await printEnd(session, view, options);
    return stopped?.exitCode ?? exitCode;
  } finally {
    watcher.stop();
    live.end();
    leave.abort();
  }
}

interface Stopped {
  readonly exitCode: number;
  /** The run's end, when it came in time. */
  readonly view?: RunView;
}

/** Waits for the end of the run or for a person's wish to stop; `undefined` when the run ended by itself. */
async function untilStop(
  following: Promise<RunView | undefined>,
  signals: StopSignals,
  { session, options }: { readonly session: Session; readonly options: WatchOptions },
): Promise<Stopped | undefined> {
  const { io, command, workflowId } = options;
  const first = await Promise.race([following.then(() => undefined), signals.next()]);
  if (first === undefined) return undefined;
  const exitCode = stopExitCode(first);
  if (options.onStop === 'detach') {
    io.say(
      `\nThe run goes on without this terminal. Look again: ${command} attach ${workflowId} · end it: ${command} cancel ${workflowId}`,
    );
    return { exitCode };
  }
  io.say(first === 'SIGINT' ? '\nCancelling the run (Ctrl-C again leaves it to itself).' : 'Cancelling the run.');
  const cancelling = cancelRun(session, workflowId).catch((error: unknown) => {
    io.say(`The run could not be cancelled: ${error instanceof Error ? visibleText(error.message) : String(error)}`);
  });
  const ended = cancelling.then(() => following);
  const limit = first === 'SIGTERM' ? [sleep(TERMINATE_WITHIN_MS, 'late' as const, { ref: false })] : [];
  const second = await Promise.race([ended.then(() => 'ended' as const), signals.next(), ...limit]);
  const view = second === 'ended' ? await following : undefined;
  if (view !== undefined) return { exitCode, view };
  io.say(`The cancellation is requested; the run may still be ending. Look: ${command} show ${workflowId}`);
  return { exitCode };
}

/** What history does not have: progress inside a step, retries, and why nothing happens. */
export function watchServer(
  session: Session,
  { io, workflowId, command }: Pick<WatchOptions, 'io' | 'workflowId' | 'command'>,
  live: ReturnType<typeof createLiveView>,
) {
  let busy = false;
  let lastDiagnosis = Date.now();
  let problem: string | undefined;
  const look = async (): Promise<void> => {
    const pending = await describePending(session, workflowId);
    live.progress(pending);
    if (Date.now() - lastDiagnosis < DIAGNOSE_EVERY_MS) return;
    lastDiagnosis = Date.now();
    const found = await diagnose(session, pending, { command });
    if (found !== undefined && found !== problem) io.say(io.colors.yellow(`surehand: ${found}`));
    problem = found;
  };
  const timer = setInterval(
    () => {
      live.tick();
      if (busy) return;
      busy = true;
      // A server that is away is the follower's business.
      look()
        .catch(() => undefined)
        .finally(() => {
          busy = false;
        });
    },
    io.isTerminal ? TERMINAL_POLL_MS : LOG_POLL_MS,
  );
  return { stop: () => clearInterval(timer) };
}

async function printEnd(session: Session, view: RunView, options: WatchOptions): Promise<number> {
  const { io, output, command } = options;
  const result = resultOf(view);
  const lookAgain = `  again: ${command} show ${view.workflowId}`;
  const link = session.uiLink(view.workflowId, view.runId);
  const diffs = renderDiffs(view, io);
  if (diffs.length > 0) io.say(['', ...diffs, ''].join('\n'));
  // What an unfinished run said last is no answer; it stands above already.
  if (output === 'people' && result.outcome === 'done') await printAnswer(result.text, io);
  if (output === 'json') await io.write(`${JSON.stringify(result, null, 2)}\n`);
  if (output === 'stream-json') await io.write(`${JSON.stringify({ type: 'result', result })}\n`);
  const links = link === undefined ? [] : [`  web UI: ${link}`];
  io.say([...renderEnd(result, io), ...links, lookAgain, ...(options.footer ?? [])].join('\n'));
  return exitCodeOf(result);
}

/** A person's terminal gets no control characters; a file or a program gets the text as it is. */
export async function printAnswer(text: string, io: Io): Promise<void> {
  if (text === '') return;
  const shown = io.outIsTerminal ? visibleText(text) : text;
  await io.write(shown.endsWith('\n') ? shown : `${shown}\n`);
}
