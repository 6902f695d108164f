import type { Command } from 'commander';
import type { Config } from '../../config';
import { findBwrap } from '../../server/tool-paths';
import { probeSandbox } from '../../workspace/sandbox-probe';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { makeDemoWorkspace } from '../demo-workspace';
import type { Io } from '../io';
import { addSettingsOption } from '../options';
import { newWorkflowId } from '../run-id';
import { readRunRequest } from '../run-request';
import { startRun } from '../start-run';
import { watchStopSignals } from '../stop-signals';
import { visibleText } from '../visible-text';
import { watchRun } from '../watch-run';

const TASK = 'One test of this project fails. Find out why, correct it, and run the tests again.';
const MAX_TURNS = 30;

const HELP = `
Copies a small project with a failing test into a fresh directory and lets the agent repair it. Without
ANTHROPIC_API_KEY a recorded model plays; with it, the real one works.`;

export function registerDemo(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('demo').description('watch it repair a sample project; no key needed'))
    .addHelpText('after', HELP)
    .action((flags: { readonly settings?: string }) => playDemo(flags, context));
}

async function playDemo(flags: { readonly settings?: string }, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const config = context.config(flags);
  const isReal = config.endpoints[config.endpoint]?.apiKey !== undefined && !config.model.startsWith('scripted:');
  io.say(introduction(config, isReal));
  const id = newWorkflowId('demo');
  const workspace = makeDemoWorkspace(config.demoRoot, id);
  io.say(io.colors.dim(`workspace: ${visibleText(workspace)}\ntask: ${TASK}`));
  const request = await readRunRequest(
    TASK,
    { workspace, model: isReal ? config.model : 'scripted:demo', maxTurns: MAX_TURNS },
    { config, io, nobodyAnswers: true },
  );
  const signals = watchStopSignals();
  const sandboxNote = describeSandbox(config, io);
  const use = withSession(
    context,
    config,
    async (session) => {
      const note = await sandboxNote;
      if (note !== undefined) io.say(note);
      const started = await startRun(session, request, { config, command, id });
      io.say(io.colors.dim(`run ${id}\n`));
      return watchRun(session, {
        io,
        command,
        signals,
        workflowId: id,
        runId: started.runId,
        output: 'people',
        onStop: 'cancel',
        patienceMs: Number.POSITIVE_INFINITY,
        footer: session.embedded ? [`  stop what is left running: ${command} down`] : [],
      });
    },
    { starts: isReal },
  );
  context.exitWith(await use.finally(() => signals.dispose()));
}

function introduction(config: Config, isReal: boolean): string {
  if (isReal)
    return `This is the demo with the real model ${config.model}: a failing test is repaired in a sample project.`;
  return (
    'This is a demo: a recorded model plays, no AI is called. To let a real one do the same task, set ANTHROPIC_API_KEY ' +
    `and run it again (it then uses ${config.model}).`
  );
}

/** Said before the first command runs without a sandbox; `undefined` where it holds. */
async function describeSandbox(config: Config, io: Io): Promise<string | undefined> {
  if (config.temporal.mode === 'server') return undefined;
  const where = 'so the commands of the demo (node --test) run without it, in the directory above';
  if (config.worker.sandbox === 'off') return io.colors.yellow(`The sandbox is switched off, ${where}.`);
  const bwrapPath = config.worker.bwrapPath ?? (await findBwrap(config.env));
  if (bwrapPath === undefined) return io.colors.yellow(`bwrap is not installed, ${where}.`);
  const probe = await probeSandbox({ bwrapPath, nodePath: process.execPath, scratchDirectory: config.demoRoot });
  if (probe.mode === 'strict') return undefined;
  return io.colors.yellow(`The sandbox does not hold on this machine (${visibleText(probe.detail)}), ${where}.`);
}
