import type { Command } from 'commander';
import type { Config } from '../../config';
import { EXIT_USAGE } from '../../contract/outcome';
import type { DaemonAddress } from '../../server/daemon-client';
import { findDaemon, keepDaemon, stopDaemon } from '../../server/daemon-client';
import { readDaemonRecord, readLiveDaemon } from '../../server/daemon-record';
import { formatEntry } from '../../server/log-entry';
import { followEntries } from '../../server/log-reader';
import { stateFiles } from '../../server/state-directory';
import { CliError } from '../cli-error';
import type { CommandContext } from '../command-context';
import type { Io } from '../io';
import { ensureLocalDaemon } from '../local-daemon';
import { addSettingsOption, addToolsOption } from '../options';
import { watchStopSignals } from '../stop-signals';
import { visibleText } from '../visible-text';
import { logPaths } from './logs';

const HELP = `
Starts the local Temporal server and worker, shows their logs, and stops both at Ctrl-C (open runs go on at the next
command). Other terminals use them meanwhile: run, list, attach and so on. Where they run already, their logs are
followed, and Ctrl-C leaves them alone.
Examples:
  surehand dev
  surehand dev --tools ./tickets.mjs`;

const CHECK_MS = 500;

interface DevFlags {
  readonly settings?: string;
  readonly tools?: readonly string[];
}

export function registerDev(program: Command, context: CommandContext): void {
  const command = program.command('dev').description('the local server and worker in the foreground, with their logs');
  addToolsOption(addSettingsOption(command))
    .addHelpText('after', HELP)
    .action((flags: DevFlags) => dev(flags, context));
}

async function dev(flags: DevFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const config = context.config({ ...flags, forWorker: true });
  refuse(config, flags, context);
  const since = new Date().toISOString();
  const before = findDaemon(config.home);
  const signals = watchStopSignals();
  const daemon = await ensureLocalDaemon(config, io, { restartOnConfigChange: true }).catch(async (error: unknown) => {
    if (before === undefined) await stopDaemon(config.home);
    throw error;
  });
  const isOurs = before?.pid !== daemon.pid;
  io.say(`Temporal server: ${daemon.address} · web UI: ${daemon.uiUrl}`);
  io.say(
    isOurs
      ? 'Ctrl-C stops server and worker.'
      : `They ran already (pid ${String(daemon.pid)}), so Ctrl-C leaves them running; to stop them: ${command} down`,
  );
  const over = new AbortController();
  const stopped = signals.next().then(() => 'signal' as const);
  const gone = watch(config, io, daemon, over.signal);
  const print = followEntries(
    logPaths(stateFiles(config.home)),
    (entry) => io.write(`${visibleText(formatEntry(entry))}\n`),
    { count: Number.MAX_SAFE_INTEGER, matches: ({ time }) => time >= since, signal: over.signal },
  ).then(() => 'printed' as const);
  try {
    const why = await Promise.race([stopped, gone, print]);
    if (why === 'gone') io.say('The local server and worker were stopped by another command.');
    else if (isOurs) io.say('Stopping server and worker; open runs go on at the next command.');
  } finally {
    over.abort();
    if (isOurs) await stopDaemon(config.home);
    signals.dispose();
  }
}

function refuse(config: Config, flags: DevFlags, { command }: CommandContext): void {
  if (config.temporal.mode === 'server') {
    throw new CliError(
      EXIT_USAGE,
      `TEMPORAL_ADDRESS names a server that is already there (${config.temporal.target.address}). Work for it: ${command} worker`,
    );
  }
  // The running worker would go on without them, and nothing would tell. One that has given up is replaced.
  const running = readLiveDaemon(stateFiles(config.home));
  if (flags.tools !== undefined && running !== undefined && running.state !== 'failed') {
    throw new CliError(
      EXIT_USAGE,
      `A local server and worker already run, without these tools. Stop them first (open runs go on): ${command} down`,
    );
  }
}

/** Says that somebody needs the daemon, and starts it again if it was killed. Settles when it was stopped on purpose. */
async function watch(config: Config, io: Io, daemon: DaemonAddress, signal: AbortSignal): Promise<'gone'> {
  let pid = daemon.pid;
  let missing = 0;
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    const found = findDaemon(config.home);
    if (found !== undefined) {
      keepDaemon(config.home);
      if (found.pid !== pid) io.say('Another command has started server and worker anew.');
      [pid, missing] = [found.pid, 0];
    } else if (readDaemonRecord(stateFiles(config.home)) === undefined) {
      // Between two of them there is none for a moment.
      missing += 1;
      if (missing * CHECK_MS > STOPPED_AFTER_MS) return 'gone';
    } else {
      ({ pid } = await ensureLocalDaemon(config, io, { restartOnConfigChange: false }));
    }
  }
  return 'gone';
}

const STOPPED_AFTER_MS = 5_000;
