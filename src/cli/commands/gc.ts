import type { Command } from 'commander';
import type { Config } from '../../config';
import { WORKFLOW_TYPE } from '../../contract/names';
import { findLeftovers, removeLeftovers } from '../../server/leftovers';
import type { StoredCall } from '../../server/state-usage';
import { removeCalls } from '../../server/state-usage';
import { createCallExpiry, serverName } from '../../temporal/call-expiry';
import type { CommandContext } from '../command-context';
import { withSession } from '../command-context';
import { formatBytes, formatCount } from '../format';
import { addSettingsOption } from '../options';
import type { Session } from '../session';
import { hasState } from '../session';

const HELP = `
Removes from the state directory what no run within the server's retention can ask for any more: journal entries with
their outputs, directories of runs, demo directories of over a week, rotated logs of over 14 days, and files that killed
processes left half written. Calls of runs that the server still knows, and of other servers, stay. The worker removes
old journal entries each day by itself.
Examples:
  surehand gc --dry-run
  surehand gc --json`;

const SCHEMA_VERSION = 1;

interface GcFlags {
  readonly settings?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

interface Removed {
  readonly kind: string;
  readonly count: number;
  readonly bytes: number;
}

export function registerGc(program: Command, context: CommandContext): void {
  addSettingsOption(
    program.command('gc').description('remove from the state directory what belongs to no run any more'),
  )
    .option('--dry-run', 'only say what would be removed')
    .option('--json', 'print {"schemaVersion", "dryRun", "removed": [{"kind", "count", "bytes"}]} on stdout')
    .addHelpText('after', HELP)
    .action((flags: GcFlags) => gc(flags, context));
}

async function gc(flags: GcFlags, context: CommandContext): Promise<void> {
  const { io } = context;
  const config = context.config(flags);
  const dryRun = flags.dryRun === true;
  const removed = hasState(config)
    ? await withSession(context, config, (session) => clean(session, config, dryRun))
    : [];
  if (flags.json === true) {
    await io.write(`${JSON.stringify({ schemaVersion: SCHEMA_VERSION, dryRun, removed }, null, 2)}\n`);
    return;
  }
  if (removed.length === 0) {
    io.say(`Nothing to remove in ${config.home}.`);
    return;
  }
  io.say(dryRun ? `Would be removed from ${config.home}:` : `Removed from ${config.home}:`);
  const lines = removed.map(
    ({ kind, count, bytes }) => `${kind.padEnd(16)}  ${formatCount(count)}  ${formatBytes(bytes)}`,
  );
  await io.write(`${lines.join('\n')}\n`);
}

async function clean(session: Session, config: Config, dryRun: boolean): Promise<Removed[]> {
  const { client, namespace } = session;
  const { config: rules } = await client.workflowService.describeNamespace({ namespace });
  const seconds = rules?.workflowExecutionRetentionTtl?.seconds;
  const calls = await cleanCalls(session, config, dryRun);
  const leftovers = await findLeftovers(config.home, {
    nowMs: Date.now(),
    retentionMs: Number(seconds ?? Number.POSITIVE_INFINITY) * 1_000,
    knownRuns: () => listRuns(session),
  });
  if (!dryRun) await removeLeftovers(leftovers);
  const kinds = [...new Set(leftovers.map(({ kind }) => kind))].map((kind) => {
    const ofKind = leftovers.filter((leftover) => leftover.kind === kind);
    return { kind, count: ofKind.length, bytes: ofKind.reduce((sum, { bytes }) => sum + bytes, 0) };
  });
  return [calls, ...kinds].filter(({ count }) => count > 0);
}

async function cleanCalls(session: Session, config: Config, dryRun: boolean): Promise<Removed> {
  const address = config.temporal.mode === 'server' ? config.temporal.target.address : '';
  const { client, namespace, embedded } = session;
  const isExpired = await createCallExpiry(client, serverName({ embedded, address, namespace }));
  let [count, bytes] = [0, 0];
  const removed = await removeCalls(config.home, async (call: StoredCall) => {
    const expired = await isExpired(call);
    if (expired) [count, bytes] = [count + 1, bytes + call.bytes];
    return expired && !dryRun;
  });
  return dryRun ? { kind: 'calls', count, bytes } : { kind: 'calls', count: removed.calls, bytes: removed.bytes };
}

async function listRuns({ client }: Session): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowType="${WORKFLOW_TYPE}"` })) {
    ids.push(workflowId);
  }
  return ids;
}
