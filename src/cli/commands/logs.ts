import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { LogEntry } from '../../server/log-entry';
import { formatEntry } from '../../server/log-entry';
import { followEntries, readEntries } from '../../server/log-reader';
import { stateFiles } from '../../server/state-directory';
import type { CommandContext } from '../command-context';
import { addSettingsOption } from '../options';
import { watchStopSignals } from '../stop-signals';
import { visibleText } from '../visible-text';

const HELP = `
The logs of this machine's worker and of the daemon that keeps the local server and worker running, in order of time.
What a worker wrote before it crashed is among them. Secrets that the worker knows are masked.
Examples:
  surehand logs -f
  surehand logs --run fix-the-test-vx37 --lines 200
  surehand logs --json | jq 'select(.level == "error")'`;

const DEFAULT_LINES = 50;

interface LogsFlags {
  readonly settings?: string;
  readonly follow?: boolean;
  readonly run?: string;
  readonly lines: number;
  readonly json?: boolean;
}

export function registerLogs(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('logs').description('what worker and daemon have to say'))
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .option('--run <id>', 'only lines of this run')
    .option('-n, --lines <n>', 'so many of the last lines', wholeNumber, DEFAULT_LINES)
    .option('--json', 'print the lines as they are stored: one JSON object each')
    .addHelpText('after', HELP)
    .action((flags: LogsFlags) => logs(flags, context));
}

async function logs(flags: LogsFlags, context: CommandContext): Promise<void> {
  const { io } = context;
  const files = stateFiles(context.config(flags).home);
  const paths = logPaths(files);
  const matches = (entry: LogEntry): boolean => flags.run === undefined || isOf(entry, flags.run);
  const print = (entry: LogEntry): Promise<void> =>
    io.write(`${flags.json === true ? JSON.stringify(entry) : visibleText(formatEntry(entry))}\n`);
  if (flags.follow === true) {
    const stop = new AbortController();
    const signals = watchStopSignals();
    void signals.next().then(() => stop.abort());
    await followEntries(paths, print, { count: flags.lines, matches, signal: stop.signal });
    signals.dispose();
    return;
  }
  const entries = readEntries(paths, matches, flags.lines);
  for (const entry of entries) await print(entry);
  if (entries.length > 0) return;
  if (!paths.some((path) => existsSync(path))) io.say(`There are no logs in ${files.logs} yet.`);
  else if (flags.run !== undefined) io.say(`No line in ${files.logs} is of a run ${visibleText(flags.run)}.`);
}

/** The structured logs of a state directory. */
export function logPaths({ daemonEntries, workerEntries }: ReturnType<typeof stateFiles>): readonly string[] {
  return [daemonEntries, workerEntries];
}

function isOf({ workflowId, runId }: LogEntry, run: string): boolean {
  return workflowId === run || runId === run;
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
