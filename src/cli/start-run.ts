import path from 'node:path';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { Config } from '../config';
import { MEMO, WORKFLOW_TYPE } from '../contract/names';
import type { SearchAttributeName } from '../contract/names';
import { EXIT_USAGE } from '../contract/outcome';
import type { RunInput } from '../contract/run-input';
import { registeredSearchAttributes, searchAttributePairs } from '../temporal/search-attributes';
import { CliError } from './cli-error';
import { countOf, formatCost, formatCount, formatDuration } from './format';
import { runDigest } from './run-digest';
import { newWorkflowId } from './run-id';
import type { RunRequest } from './run-request';
import type { Session } from './session';
import { cutLine, visibleLine, visibleText } from './visible-text';

export interface StartedRun {
  readonly workflowId: string;
  /** First run of the chain. */
  readonly runId: string;
  /** `started` now, or the same task was there: still `running`, or `finished`. */
  readonly state: 'started' | 'running' | 'finished';
}

export interface StartOptions {
  readonly config: Config;
  readonly id?: string;
  readonly again?: boolean;
  /** Default: a task, which ends with the model's turn. */
  readonly kind?: RunInput['kind'];
  /** How the person calls the program, for the commands in the run's description. */
  readonly command: string;
}

// What the server accepts at least: 400 and 20,000 bytes; characters may have four.
const MAX_SUMMARY = 95;
const MAX_DETAILS = 5_000;
const OPERATOR_TIMEOUT_MS = 3_000;
const TRIES = 3;

/**
 * Starts a run, or finds the one that the same command has started before.
 * @throws CliError (exit code 2) when the id belongs to another task, or `again` is asked of a run that is still open.
 */
export async function startRun(session: Session, request: RunRequest, options: StartOptions): Promise<StartedRun> {
  const registered = await registeredAttributes(session);
  const input = toRunInput(session, request, { ...options, registered });
  for (let tries = 1; ; tries += 1) {
    const workflowId = options.id ?? newWorkflowId(request.task);
    const existing = options.id === undefined ? undefined : await findRun(session, options.id);
    if (existing !== undefined) {
      const found = judgeExisting(existing, input, options);
      if (found !== undefined) return found;
    }
    try {
      return await start(session, workflowId, input, options);
    } catch (error) {
      // Somebody was faster, or a random id was taken: look again.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) || tries === TRIES) throw error;
    }
  }
}

async function start(
  session: Session,
  workflowId: string,
  input: RunInput,
  { again, command }: StartOptions,
): Promise<StartedRun> {
  const summary = cutLine(visibleLine(input.task, MAX_SUMMARY), MAX_SUMMARY);
  const handle = await session.client.workflow.start(WORKFLOW_TYPE, {
    workflowId,
    taskQueue: session.workflowQueue,
    args: [input],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: again === true ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    memo: { [MEMO.inputDigest]: runDigest(input), [MEMO.task]: summary },
    staticSummary: summary,
    staticDetails: cutLine(describeRun(workflowId, input, command), MAX_DETAILS),
    typedSearchAttributes: searchAttributePairs(
      {
        SurehandState: 'working',
        SurehandHost: input.hostId,
        SurehandRepo: path.basename(input.workspace),
        SurehandModel: modelName(input),
        SurehandTurns: 0,
      },
      input.searchAttributes,
    ),
  });
  return { workflowId, runId: handle.firstExecutionRunId, state: 'started' };
}

/** The run of this id, open or closed; `undefined` when there is none. */
export async function findRun(session: Session, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await session.client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** First run of the chain that a described run belongs to. */
export function firstRunId(run: WorkflowExecutionDescription): string {
  return run.raw.workflowExecutionInfo?.firstRunId || run.runId;
}

/** What an existing run means for a new start: attach to it, refuse, or (undefined) start anew. */
function judgeExisting(
  run: WorkflowExecutionDescription,
  input: RunInput,
  options: StartOptions,
): StartedRun | undefined {
  const open = run.status.name === 'RUNNING' || run.status.name === 'PAUSED';
  const id = visibleText(run.workflowId);
  if (options.again === true) {
    if (!open) return undefined;
    throw new CliError(
      EXIT_USAGE,
      `The run ${id} is still open, so it was not started again. Follow it: ${options.command} attach ${id} · or end it: ${options.command} cancel ${id}`,
    );
  }
  if (run.type !== WORKFLOW_TYPE || run.memo?.[MEMO.inputDigest] !== runDigest(input)) {
    throw new CliError(
      EXIT_USAGE,
      `The id ${id} belongs to another task (or workspace, model, mode or limits), so nothing was started. Choose another id${open ? '' : ', or add --again'}; look at it: ${options.command} show ${id}`,
    );
  }
  return { workflowId: run.workflowId, runId: firstRunId(run), state: open ? 'running' : 'finished' };
}

/** A server that does not let us ask has none for us; runs then carry no attributes. */
async function registeredAttributes({ client, namespace }: Session): Promise<SearchAttributeName[]> {
  try {
    return await client.withDeadline(Date.now() + OPERATOR_TIMEOUT_MS, () =>
      registeredSearchAttributes(client, namespace),
    );
  } catch {
    return [];
  }
}

function toRunInput(
  session: Session,
  request: RunRequest,
  {
    config,
    registered,
    kind = 'task',
  }: Pick<StartOptions, 'config' | 'kind'> & { readonly registered: readonly SearchAttributeName[] },
): RunInput {
  return {
    schemaVersion: 1,
    kind,
    task: request.task,
    workspace: request.workspace,
    hostId: session.hostId,
    hostQueue: session.hostQueue,
    model: request.model,
    limits: request.limits,
    permission: request.permission,
    timeouts: config.timeouts,
    searchAttributes: registered,
    startedBy: config.user,
    ...(request.outputSchema === undefined ? {} : { outputSchema: request.outputSchema }),
    ...(request.dumpRequests === undefined ? {} : { dumpRequests: request.dumpRequests }),
    depth: 0,
  };
}

/** Markdown for the run's page in the Web UI. */
function describeRun(workflowId: string, input: RunInput, command: string): string {
  const { limits, permission } = input;
  const bounds = [
    countOf(limits.maxTurns, 'turn'),
    ...(limits.maxTimeMs === undefined ? [] : [formatDuration(limits.maxTimeMs)]),
    ...(limits.maxCostUsd === undefined ? [] : [formatCost(limits.maxCostUsd)]),
    ...(limits.maxTokens === undefined ? [] : [`${formatCount(limits.maxTokens)} tokens`]),
  ];
  return [
    `**Workspace** \`${visibleText(input.workspace)}\` (host \`${input.hostId}\`)`,
    `**Model** ${visibleText(modelName(input))}`,
    `**Limits** ${bounds.join(' · ')}`,
    `**Mode** ${permission.mode}${permission.unattended ? ', unattended' : ''} · started by ${visibleText(input.startedBy)}`,
    `**Follow** \`${command} attach ${workflowId}\` · **read** \`${command} show ${workflowId}\` · **end** \`${command} cancel ${workflowId}\``,
  ].join('\n\n');
}

function modelName({ model }: RunInput): string {
  return model.provider === 'scripted' ? `scripted:${model.model}` : model.model;
}
