import type { WorkflowExecutionDescription } from '@temporalio/client';
import { WORKFLOW_TYPE } from '../contract/names';
import { EXIT_CODES, EXIT_USAGE } from '../contract/outcome';
import { createCodecs } from '../temporal/data-converter';
import { eventBytes, historyPages } from '../temporal/history';
import { createRunViewer } from '../transcript/run-view';
import type { RunView } from '../transcript/view';
import { CliError } from './cli-error';
import type { CommandContext } from './command-context';
import { findRun, firstRunId } from './start-run';
import type { Session } from './session';
import { visibleText } from './visible-text';

export interface ExistingRun {
  readonly workflowId: string;
  /** First run of the chain. */
  readonly runId: string;
  readonly open: boolean;
  readonly description: WorkflowExecutionDescription;
}

/** @throws CliError (exit code 2) when there is no run of ours with this id. */
export async function requireRun(session: Session, id: string, { command }: CommandContext): Promise<ExistingRun> {
  const description = await findRun(session, id);
  if (description?.type !== WORKFLOW_TYPE) throw unknownRun(id, command);
  const open = description.status.name === 'RUNNING' || description.status.name === 'PAUSED';
  return { workflowId: id, runId: firstRunId(description), open, description };
}

function unknownRun(id: string, command: string): CliError {
  return new CliError(
    EXIT_USAGE,
    `There is no run with the id ${visibleText(id)}. The runs there are: ${command} list`,
  );
}

/**
 * The whole run as history tells it now. Needs no worker.
 * @throws CliError when its history is gone.
 */
export async function readView(session: Session, run: ExistingRun): Promise<RunView> {
  const viewer = createRunViewer(run.workflowId, { codecs: createCodecs(), sizeOf: eventBytes });
  for await (const page of historyPages(session.client, { workflowId: run.workflowId, runId: run.runId })) {
    await viewer.push(page);
  }
  const view = viewer.view();
  if (view !== undefined) return view;
  throw new CliError(EXIT_CODES.failed, `The history of the run ${visibleText(run.workflowId)} cannot be read.`);
}
