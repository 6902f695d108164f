import type { FinishInput, PrepareInput, PrepareResult } from '../contract/activity';
import type { Host } from './host';
import { randomId } from './random-id';
import { runStep } from './step';

/** Entry 0: takes the workspace for this run and collects what must not change while it goes on. */
export function createPrepareWorkspace(host: Host): (input: PrepareInput) => Promise<PrepareResult> {
  return ({ firstRunId }) =>
    runStep(async (step) => {
      const { input } = await host.windows.context(step);
      const holder = { workflowId: step.workflowId, firstRunId };
      return { id: randomId(), facts: await host.workspaces.prepare(input, holder, step.signal) };
    });
}

/** Gives the workspace back. */
export function createFinishWorkspace(host: Host): (input: FinishInput) => Promise<void> {
  return ({ firstRunId }) =>
    runStep(async (step) => {
      const { input } = await host.windows.context(step);
      await host.workspaces.finish(input, { workflowId: step.workflowId, firstRunId });
    });
}
