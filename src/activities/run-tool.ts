import type { RunToolInput, ToolResult } from '../contract/activity';
import { cutText } from '../conversation/fit';
import { jsonBytes } from '../conversation/json-size';
import type { Host } from './host';
import { randomId } from './random-id';
import { runStep } from './step';

/** JSON around a result's text: ids, status, details without the diff. */
const ENVELOPE_BYTES = 1_024;

/** Runs any tool of the registry. What the model can act on is a result; only infrastructure fails the activity. */
export function createRunTool(host: Host): (input: RunToolInput) => Promise<ToolResult> {
  return (input) =>
    runStep(host, async (step) => {
      const run = { workflowId: step.workflowId, runId: step.runId };
      const toolbox = host.toolbox({ ...run, ...(await host.windows.context(run)) });
      const { call, callId, name, grant } = input;
      const executed = await toolbox.execute(
        { call, callId, name, input: input.input, ...(grant === undefined ? {} : { grant }) },
        {
          signal: step.signal,
          meaning: step.meaning,
          maxBytes: Math.max(0, input.shareBytes - ENVELOPE_BYTES),
          onProgress: (tail, bytes) => {
            step.progress(tail, bytes);
          },
        },
      );
      const message = fitText(host.redact(executed.message), input.shareBytes - ENVELOPE_BYTES);
      const details = executed.details === undefined ? undefined : redactDetails(host, executed.details);
      const result: ToolResult = {
        id: randomId(),
        call,
        tool: name,
        status: executed.status,
        message,
        ...(details === undefined ? {} : { details }),
        durationMs: executed.durationMs,
      };
      host.windows.keepResult(result);
      return result;
    });
}

/** The tool was told its share; this holds even if it did not keep to it, and in JSON, where a control character is six bytes. */
function fitText(text: string, maxBytes: number): string {
  let budget = maxBytes;
  let cut = text;
  while (jsonBytes(cut) > maxBytes && budget > 1) {
    budget = Math.floor(budget / 2);
    cut = cutText(text, budget);
  }
  return cut;
}

function redactDetails(host: Host, details: NonNullable<ToolResult['details']>): NonNullable<ToolResult['details']> {
  return details.diff === undefined ? details : { ...details, diff: host.redact(details.diff) };
}
