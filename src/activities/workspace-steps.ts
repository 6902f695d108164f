import type { FinishInput, FinishResult, PrepareInput, PrepareResult, WorkspaceFacts } from '../contract/activity';
import type { Redact } from '../redactor';
import type { Host } from './host';
import { randomId } from './random-id';
import { runStep } from './step';

/** Entry 0: takes the workspace for this run and collects what must not change while it goes on. */
export function createPrepareWorkspace(host: Host): (input: PrepareInput) => Promise<PrepareResult> {
  return ({ firstRunId }) =>
    runStep(host, async (step) => {
      const { input } = await host.windows.context(step);
      const holder = { workflowId: step.workflowId, firstRunId };
      const facts = await host.workspaces.prepare(input, holder, step.signal);
      return { id: randomId(), facts: redactFacts(facts, host.redact) };
    });
}

/** Gives the workspace back and tells what the run changed in it. */
export function createFinishWorkspace(host: Host): (input: FinishInput) => Promise<FinishResult> {
  return ({ firstRunId, pause }) =>
    runStep(host, async (step) => {
      const { input } = await host.windows.context(step);
      const holder = { workflowId: step.workflowId, firstRunId };
      return await host.workspaces.finish(input, holder, { pause: pause === true });
    });
}

function redactFacts(facts: WorkspaceFacts, redact: Redact): WorkspaceFacts {
  return { ...facts, instructions: facts.instructions.map((file) => ({ ...file, text: redact(file.text) })) };
}
