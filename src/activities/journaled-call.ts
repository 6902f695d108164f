import type { CallIntent, CallJournal, JournalEntry } from '../workspace/call-journal';
import { WorkspaceError, type StartedCommand, type WorkspaceFiles } from '../workspace/ports';
import type { Executed } from './host';

/** How a journaled call is really done. */
export interface CallWork {
  /** Asked before a call begins that never began: why it may not, in words for the model; undefined when it may. */
  refusal(): Promise<string | undefined>;
  start(files: WorkspaceFiles): Promise<Executed>;
  resume(command: StartedCommand): Promise<Executed>;
}

const NOT_STARTED =
  'Not started: the worker died before it began this call. Nothing of it happened; it is safe to repeat it.';
const UNKNOWN = [
  'The outcome of this call is not known: the worker died while it ran.',
  'It does not run any more. It may have had none, some or all of its effects, and it was not repeated.',
  'Look before you repeat it.',
].join(' ');

/**
 * Does a call that may change something at most once, over all deliveries. What a delivery finds in the journal decides:
 * nothing → it begins; a result → that; a command that runs or ended → it is followed to its end and reported; else what
 * the journal can prove. Never starts a call that has an entry.
 */
export async function runJournaled(
  journal: CallJournal<Executed>,
  key: string,
  intent: CallIntent,
  work: CallWork,
): Promise<Executed> {
  for (;;) {
    const entry = await journal.lookup(key);
    if (entry.state !== 'none') return settle(journal, key, entry, work);
    const refusal = await work.refusal();
    // Not recorded: it did not begin, and may when it is asked for again.
    if (refusal !== undefined) return failed(refusal);
    try {
      if (!(await journal.begin(key, intent))) continue;
    } catch (error) {
      if (error instanceof WorkspaceError) return failed(error.message);
      throw error;
    }
    return record(journal, key, await work.start(journal.filesOf(key)));
  }
}

async function settle(
  journal: CallJournal<Executed>,
  key: string,
  entry: Exclude<JournalEntry<Executed>, { readonly state: 'none' }>,
  work: CallWork,
): Promise<Executed> {
  switch (entry.state) {
    case 'recorded':
      return from(entry.result, 'replayed');
    case 'running':
      return record(journal, key, from(await work.resume(entry.command), 're-attached'));
    case 'ended':
      return record(journal, key, from(await work.resume(entry.command), 'recovered'));
    case 'applied':
      return record(journal, key, applied(entry.path));
    case 'not_started':
      return record(journal, key, failed(NOT_STARTED));
    // `owned`: the process that began it lives and is not the one that asks: a worker that was replaced while it hung.
    case 'unknown':
    case 'owned':
      return record(journal, key, failed(UNKNOWN));
  }
}

/** If only the outcome cannot be written, it still goes to Temporal, which keeps it. */
async function record(journal: CallJournal<Executed>, key: string, executed: Executed): Promise<Executed> {
  try {
    await journal.record(key, executed);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
  }
  return executed;
}

function applied(path: string): Executed {
  const message = `${path} has the content that this call was to give it; the worker died after the change and before it could report.`;
  return { status: 'success', message, details: { filesChanged: [path], origin: 'recovered' }, durationMs: 0 };
}

function failed(message: string): Executed {
  return { status: 'failed', message, durationMs: 0 };
}

function from(executed: Executed, origin: string): Executed {
  return { ...executed, details: { ...executed.details, origin } };
}
