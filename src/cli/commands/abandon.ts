import type { Command } from 'commander';
import { EXIT_USAGE } from '../../contract/outcome';
import { livePollers } from '../../temporal/pollers';
import { cancelRun } from '../cancel-run';
import { CliError } from '../cli-error';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import type { ExistingRun } from '../existing-run';
import { readView, requireRun } from '../existing-run';
import { followRun } from '../follow-run';
import { addSettingsOption } from '../options';
import { renderEnd } from '../render-result';
import { ABANDONED, resultOf } from '../result';
import type { Session } from '../session';
import { visibleText } from '../visible-text';

const HELP = `
For a run that waits for a host which never comes back: ends it without that host. What the run did stays as it is; the
conversation stays readable. While the host's worker runs, use cancel: it also ends what runs there.
Example:
  surehand abandon fix-the-failing-test-k3f9`;

const CANCEL_WITHIN_MS = 30_000;

interface AbandonFlags {
  readonly settings?: string;
}

export function registerAbandon(program: Command, context: CommandContext): void {
  addSettingsOption(program.command('abandon <id>').description('end a run whose host is gone for good'))
    .addHelpText('after', HELP)
    .action((id: string, flags: AbandonFlags) => abandon(id, flags, context));
}

async function abandon(id: string, flags: AbandonFlags, context: CommandContext): Promise<void> {
  const { io, command } = context;
  const config = context.config(flags);
  await withSession(context, config, async (session) => {
    const run = await requireRun(session, id, context);
    const shown = visibleText(id);
    const before = await readView(session, run);
    if (!run.open) {
      io.say(`The run ${shown} had ended already: ${resultOf(before).outcome}.`);
      return;
    }
    const { hostId, hostQueue } = before.input;
    const [host] = await livePollers(session.client, { queue: hostQueue, kind: 'activity' }, Date.now());
    if (host !== undefined) {
      throw new CliError(
        EXIT_USAGE,
        `The host ${hostId} of the run ${shown} has a worker (${visibleText(host.identity)}), so it is not gone. End the run with: ${command} cancel ${shown}`,
      );
    }
    if (!(await endByItself(session, run))) {
      await session.client.workflow.getHandle(id).terminate(`${ABANDONED}${config.user}: its host ${hostId} is gone`);
    }
    io.say(renderEnd(resultOf(await readView(session, run)), io).join('\n'));
  });
}

/** With a worker for its workflow the run can write its result itself; a single host takes that worker with it. */
async function endByItself(session: Session, run: ExistingRun): Promise<boolean> {
  const { taskQueue: queue } = run.description;
  const pollers = await livePollers(session.client, { queue, kind: 'workflow' }, Date.now());
  if (pollers.length === 0) return false;
  await cancelRun(session, run.workflowId);
  const view = await followRun(session, {
    workflowId: run.workflowId,
    runId: run.runId,
    signal: AbortSignal.timeout(CANCEL_WITHIN_MS),
    patienceMs: CANCEL_WITHIN_MS,
    onView: () => undefined,
    onTrouble: () => undefined,
  });
  return view?.closed === true;
}
