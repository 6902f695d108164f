import type { Command } from 'commander';
import type { Config } from '../../config';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { readView, requireRun } from '../existing-run';
import { addOutputOptions, addRecordOption, addRunOptions, addSettingsOption } from '../options';
import { checkRecordFile, recordRun } from '../record-run';
import type { RunFlags } from '../run-request';
import { readRunRequest } from '../run-request';
import type { StartedRun } from '../start-run';
import { startRun } from '../start-run';
import { watchStopSignals } from '../stop-signals';
import { watchRun } from '../watch-run';

const HELP = `
Examples:
  surehand run "fix the failing test" --workspace ~/src/shop
  git diff | surehand run - --mode read-only --json > review.json
  surehand run "fix the failing test" --model scripted:demo
The exit code says how it ended: 0 done, 1 failed, 2 wrong usage, 3 credentials refused, 4 denied, 5 limit reached,
6 unavailable, 7 context exhausted, 130 and 143 cancelled.`;

export function registerRun(program: Command, context: CommandContext): void {
  const command = program.command('run <task>').description('start a task, follow it, end with its exit code');
  addOutputOptions(addRecordOption(addSettingsOption(addRunOptions(command))))
    .addHelpText('after', HELP)
    .action((task: string, flags: RunFlags) => runTask(task, flags, context));
}

async function runTask(task: string, flags: RunFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const config = context.config(flags);
  const record = flags.record === undefined ? undefined : checkRecordFile(flags.record);
  const request = await readRunRequest(task, flags, { config, io, nobodyAnswers: config.ci || !io.isTerminal });
  const signals = watchStopSignals();
  const use = withSession(
    context,
    config,
    async (session) => {
      const started = await startRun(session, request, { config, command, ...startFlags(flags) });
      await announce(started, flags, context);
      const exitCode = await watchRun(session, {
        io,
        command,
        signals,
        workflowId: started.workflowId,
        runId: started.runId,
        output: outputForm(flags),
        onStop: 'cancel',
        patienceMs: patienceMs(config, request.permission.unattended),
      });
      if (record !== undefined) {
        recordRun(await readView(session, await requireRun(session, started.workflowId, context)), record, io);
      }
      return exitCode;
    },
    { starts: request.model.provider !== 'scripted' },
  );
  context.exitWith(await use.finally(() => signals.dispose()));
}

/** Temporal's own absence is borne as long as a host's: without a person only for a while. */
export function patienceMs({ limits }: Config, unattended: boolean): number {
  return unattended ? limits.hostWaitUnattendedMs : Number.POSITIVE_INFINITY;
}

export function outputForm(flags: Pick<RunFlags, 'json' | 'streamJson'>): 'people' | 'json' | 'stream-json' {
  if (flags.json === true) return 'json';
  return flags.streamJson === true ? 'stream-json' : 'people';
}

export function startFlags({ id, again }: RunFlags): { readonly id?: string; readonly again?: boolean } {
  return { ...(id === undefined ? {} : { id }), ...(again === undefined ? {} : { again }) };
}

async function announce(started: StartedRun, flags: RunFlags, { io }: CommandContext): Promise<void> {
  const { workflowId, runId, state } = started;
  const words = {
    started: `run ${workflowId}`,
    running: `run ${workflowId} (the same task is running already; attached to it)`,
    finished: `run ${workflowId} (the same task has ended already; this is its result. --again starts it anew)`,
  };
  io.say(io.colors.dim(words[state]));
  if (flags.streamJson === true) await io.write(`${JSON.stringify({ type: 'started', workflowId, runId, state })}\n`);
}
