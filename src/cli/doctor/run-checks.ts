import type { Client } from '@temporalio/client';
import { WORKFLOW_TYPE } from '../../contract/names';
import { lastTaskFailure } from '../../temporal/task-failure';
import { describeTaskFailure } from '../diagnose';
import { countOf } from '../format';
import { attributeOf } from '../run-state';
import { visibleText } from '../visible-text';
import { check } from './check';
import type { Check } from './check';

const MAX_RUNS = 500;
const AT_ONCE = 16;
const TIMEOUT_MS = 10_000;
const WHY = 'A run whose workflow task fails is tried over and over and never goes on by itself.';

export interface RunFindings {
  readonly checks: readonly Check[];
  /** Ids of the hosts that open runs need, with how many do. */
  readonly hosts: ReadonlyMap<string, number>;
}

interface OpenRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly hostId: string | undefined;
  /** Of the pending workflow task; 0 when there is none. */
  readonly attempts: number;
}

/** Looks at every open run for one whose workflow task fails, such as one that this build cannot replay. */
export async function checkRuns(client: Client, { command }: { readonly command: string }): Promise<RunFindings> {
  let runs: readonly OpenRun[] = [];
  let stuck: readonly Check[] = [];
  const summary = await check({
    id: 'runs',
    why: WHY,
    timeoutMs: TIMEOUT_MS + 1_000,
    look: async () => {
      await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
        runs = await openRuns(client);
        stuck = await stuckRuns(client, runs, command);
      });
      const open = `${countOf(runs.length, 'open run')}${runs.length === MAX_RUNS ? ' (no more were looked at)' : ''}`;
      if (stuck.length === 0) return { state: 'ok', detail: `${open}, none is stuck` };
      return { state: 'fail', detail: `${open}, ${String(stuck.length)} of them stuck`, mend: 'See below.' };
    },
  });
  const hosts = new Map<string, number>();
  for (const { hostId } of runs) if (hostId !== undefined) hosts.set(hostId, (hosts.get(hostId) ?? 0) + 1);
  return { checks: [summary, ...stuck], hosts };
}

async function openRuns(client: Client): Promise<OpenRun[]> {
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({
    query: `WorkflowType="${WORKFLOW_TYPE}" AND ExecutionStatus="Running"`,
  })) {
    if (ids.push(workflowId) === MAX_RUNS) break;
  }
  return (await inPortions(ids, (workflowId) => describe(client, workflowId))).filter((run) => run !== undefined);
}

/** The index may lag: each run is asked for itself. */
async function describe(client: Client, workflowId: string): Promise<OpenRun | undefined> {
  const run = await client.workflow.getHandle(workflowId).describe();
  if (run.status.name !== 'RUNNING') return undefined;
  const hostId = attributeOf(run, 'SurehandHost');
  return {
    workflowId,
    runId: run.runId,
    hostId: typeof hostId === 'string' ? hostId : undefined,
    attempts: run.raw.pendingWorkflowTask?.attempt ?? 0,
  };
}

async function stuckRuns(client: Client, runs: readonly OpenRun[], command: string): Promise<Check[]> {
  const suspects = runs.filter(({ attempts }) => attempts > 1);
  const found = await inPortions(suspects, async (run) => ({ run, failure: await lastTaskFailure(client, run) }));
  return Promise.all(
    found.flatMap(({ run, failure }) =>
      // A task that was lost with its worker is tried again too, which is no trouble.
      failure === undefined
        ? []
        : [
            check({
              id: `run:${run.workflowId}`,
              why: WHY,
              look: () => {
                const { what, mend } = describeTaskFailure(failure, { ...run, command });
                return { state: 'fail', detail: `${visibleText(run.workflowId)} is stuck: ${what}`, mend };
              },
            }),
          ],
    ),
  );
}

async function inPortions<T, R>(items: readonly T[], make: (item: T) => Promise<R>): Promise<R[]> {
  const made: R[] = [];
  for (let index = 0; index < items.length; index += AT_ONCE) {
    made.push(...(await Promise.all(items.slice(index, index + AT_ONCE).map(make))));
  }
  return made;
}
