import type { SummarizeInput, SummarizeResult } from '../contract/activity';
import type { Message, UserBlock, UserMessage } from '../contract/message';
import { assistantText } from '../conversation/compose-message';
import { cutText, fit } from '../conversation/fit';
import { summaryHead, summaryQuestion } from '../prompts/summary-prompt';
import { askModel } from './ask-model';
import { loadWindow, requestOf } from './call-model';
import type { Host } from './host';
import { randomId } from './random-id';
import { runStep } from './step';

/** Of each result and each call's input: the summary needs what came out of them, and has to fit into the window itself. */
const MAX_RESULT_BYTES = 1_500;
const MAX_SUMMARY_BYTES = 32 * 1024;

/**
 * Asks the model for a summary of the window up to the message `keepFrom`, and makes the message that opens the window
 * from then on: the task word for word, the summary, the notes.
 */
export function createSummarize(host: Host): (input: SummarizeInput) => Promise<SummarizeResult> {
  return (input) =>
    runStep(host, async (step) => {
      const startedAt = Date.now();
      const run = { workflowId: step.workflowId, runId: step.runId };
      const window = await loadWindow(host, run, input);
      const messages = askFor(partBefore(window.messages, input.keepFrom));
      const base = requestOf(host, host.toolbox({ ...run, ...window }), { ...window, messages });
      const { maxOutputTokens, turn, n: summary } = input;
      const request = { ...base, maxOutputTokens, turn, summary, tryNumber: step.attempt };
      const { response, spent } = await askModel(host, step, window, request);
      const text = assistantText({ role: 'assistant', id: '', content: response.content }).trim();
      return {
        id: randomId(),
        head: text === '' ? null : openWith(window.input.task, cutText(text, MAX_SUMMARY_BYTES), input.notes),
        usage: response.usage,
        model: response.model,
        costUsd: host.costUsd(response.model, response.usage),
        durationMs: Date.now() - startedAt,
        ...(spent === undefined ? {} : { spent }),
      };
    });
}

function partBefore(messages: readonly Message[], keepFrom: string): readonly Message[] {
  const index = messages.findIndex((message) => message.role === 'assistant' && message.id === keepFrom);
  return messages.slice(0, Math.max(0, index));
}

/** The part as it is sent: what is long in it is cut, and the question stands at its end. */
function askFor(part: readonly Message[]): Message[] {
  const question: UserBlock = { type: 'text', text: summaryQuestion() };
  const messages = part.map((message) => shortened(message));
  const last = messages[messages.length - 1];
  if (last?.role !== 'user') return [...messages, { role: 'user', content: [question] }];
  return [...messages.slice(0, -1), { role: 'user', content: [...last.content, question] }];
}

function shortened(message: Message): Message {
  if (message.role === 'user') {
    const content = message.content.map((block) =>
      block.type === 'tool_result' ? { ...block, content: cutText(block.content, MAX_RESULT_BYTES) } : block,
    );
    return { ...message, content };
  }
  const content = message.content.map((block) =>
    block.type === 'tool_use' && 'input' in block ? { ...block, input: fit(block.input, MAX_RESULT_BYTES) } : block,
  );
  return { ...message, content };
}

function openWith(task: string, summary: string, notes: string): UserMessage {
  return { role: 'user', content: [{ type: 'text', text: summaryHead({ task, summary, notes }) }] };
}
