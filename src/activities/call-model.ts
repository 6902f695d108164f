import type { CallModelInput, CallModelResult, PlannedCall } from '../contract/activity';
import { BLANK_ANSWER, type AssistantBlock, type AssistantMessage, type ToolUseBlock } from '../contract/message';
import { PortError } from '../contract/port-error';
import { jsonBytes } from '../conversation/json-size';
import { MAX_MESSAGE_BYTES } from '../conversation/limits';
import { normalizeResponse } from '../model/normalize-response';
import type { ModelRequest, ModelResponse } from '../model/port';
import { HistoryGap } from '../transcript/fold';
import type { WindowQuery } from '../transcript/transcript';
import type { RunRef, Window } from '../transcript/window-cache';
import { askModel } from './ask-model';
import type { Host, Toolbox } from './host';
import { randomId } from './random-id';
import { runStep } from './step';

/** Each call has a share of what the results of one message may take; with more calls it would be too small to be of use. */
const MAX_CALLS = 100;
const TOO_MANY_CALLS = `Not run: at most ${String(MAX_CALLS)} calls of one message are run. Make this call again.`;

/**
 * One turn of the model: finds the window by reference, asks, and plans each call of the answer on the host that will run
 * it. Returns the message as it is recorded.
 */
export function createCallModel(host: Host): (input: CallModelInput) => Promise<CallModelResult> {
  return (input) =>
    runStep(host, async (step) => {
      const startedAt = Date.now();
      const run = { workflowId: step.workflowId, runId: step.runId };
      const window = await loadWindow(host, run, input);
      const toolbox = host.toolbox({ ...run, ...window });
      const request = {
        ...requestOf(host, toolbox, window),
        maxOutputTokens: input.maxOutputTokens,
        turn: input.turn,
        tryNumber: input.triesBefore + step.attempt,
      };
      const { response, spent } = await askModel(host, step, window, request, input.spentBefore);
      const answer = toResult(host, toolbox, window, response, Date.now() - startedAt);
      const result = { ...answer, ...(spent === undefined ? {} : { spent }) };
      host.windows.answered(run, input, window, result);
      return result;
    });
}

/** The window of a moment of the conversation. @throws PortError when history lacks a part of it. */
export async function loadWindow(host: Host, run: RunRef, input: WindowQuery): Promise<Window> {
  try {
    return await host.windows.load(run, input);
  } catch (error) {
    if (!(error instanceof HistoryGap)) throw error;
    const detail = `the conversation cannot be read from history: ${error.message}`;
    throw new PortError({ class: 'history_unreadable', retryable: false, detail }, { cause: error });
  }
}

/** What every request of a run has. @throws PortError for a run whose workspace was never prepared. */
export function requestOf(
  host: Host,
  toolbox: Toolbox,
  window: Window,
): Omit<ModelRequest, 'maxOutputTokens' | 'turn' | 'tryNumber'> {
  const { facts, messages } = window;
  if (facts === null) {
    throw new PortError({ class: 'internal', retryable: false, detail: 'the workspace was never prepared' });
  }
  const { model, permission, dumpRequests } = window.input;
  const tools = toolbox.definitions();
  return {
    model: model.model,
    system: host.systemPrompt({ facts, tools, unattended: permission.unattended }),
    tools,
    messages,
    ...(model.script === undefined ? {} : { script: model.script }),
    ...(dumpRequests === undefined ? {} : { dumpDirectory: dumpRequests }),
  };
}

function toResult(
  host: Host,
  toolbox: Toolbox,
  window: Window,
  response: ModelResponse,
  durationMs: number,
): CallModelResult {
  const message = recordedMessage(response, window);
  const calls = message.content.filter((block): block is ToolUseBlock => block.type === 'tool_use');
  return {
    message,
    stopReason: response.stopReason,
    ...(response.stopDetail === undefined ? {} : { stopDetail: response.stopDetail }),
    usage: response.usage,
    model: response.model,
    costUsd: host.costUsd(response.model, response.usage),
    calls: calls.map((block, index) => planCall(toolbox, message, block, index + 1)),
    durationMs,
  };
}

/** @throws PortError for a message too large to enter history. */
function recordedMessage(response: ModelResponse, window: Window): AssistantMessage {
  const id = randomId();
  const content = normalizeResponse(response.content, id, usedIds(window));
  const blank: AssistantBlock[] = [{ type: 'text', text: BLANK_ANSWER }];
  const message: AssistantMessage = { role: 'assistant', id, content: content.length === 0 ? blank : content };
  const bytes = jsonBytes(message);
  if (bytes <= MAX_MESSAGE_BYTES) return message;
  const detail = `the model's answer has ${String(bytes)} bytes; at most ${String(MAX_MESSAGE_BYTES)} can be recorded`;
  throw new PortError({ class: 'message_too_large', retryable: false, detail });
}

function usedIds(window: Window): Set<string> {
  const blocks = window.messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  return new Set(blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])));
}

function planCall(toolbox: Toolbox, message: AssistantMessage, block: ToolUseBlock, n: number): PlannedCall {
  const judged = toolbox.plan({ name: block.name, input: block.input });
  const plan = n <= MAX_CALLS ? judged : { ...judged, known: false, reason: TOO_MANY_CALLS };
  return { callId: `${message.id}-${String(n)}`, n, blockId: block.id, ...plan };
}
