import type { CallModelResult, PlannedCall, ToolResult, WorkspaceFacts } from '../../src/contract/activity';
import type { Envelope } from '../../src/contract/envelope';
import type { AssistantBlock } from '../../src/contract/message';
import type { RunInput } from '../../src/contract/run-input';
import { openConversation, type Conversation } from '../../src/conversation/conversation';
import { recordModel, recordPrepared } from '../../src/conversation/record';
import { runInput } from './run-input';

export const workspaceFacts: WorkspaceFacts = {
  directory: '/nowhere',
  platform: 'linux',
  date: '2026-01-01',
  git: null,
  instructions: [],
  sandbox: { mode: 'off', detail: 'test' },
};

/** A call that may run; `turn` and `n` name it and its block. */
export function plannedCall(turn: number, n: number, change: Partial<PlannedCall> = {}): PlannedCall {
  return {
    callId: `m${String(turn)}-${String(n)}`,
    n,
    blockId: `toolu_${String(turn)}_${String(n)}`,
    name: 'read',
    known: true,
    effect: 'read',
    summary: `call ${String(n)}`,
    verdict: 'allow',
    reason: '',
    digest: 'v1:0',
    ...change,
  };
}

export interface AnswerOptions {
  /** Default: a text. `null`: none. */
  readonly text?: string | null;
  readonly calls?: readonly Partial<PlannedCall>[];
  readonly result?: Partial<CallModelResult>;
}

/** The model's answer in a turn; its stop reason follows from whether it has calls. */
export function answer(turn: number, { text = `Turn ${String(turn)}.`, calls = [], result }: AnswerOptions = {}) {
  const plans = calls.map((change, index) => plannedCall(turn, index + 1, change));
  const content: AssistantBlock[] = [
    ...(text === null ? [] : [{ type: 'text', text } as const]),
    ...plans.map(({ blockId, name, n }) => ({ type: 'tool_use', id: blockId, name, input: { n } }) as const),
  ];
  return {
    message: { role: 'assistant', id: `m${String(turn)}`, content },
    stopReason: plans.length > 0 ? 'tool_use' : 'end_turn',
    usage: { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 },
    model: 'test',
    costUsd: 0.01,
    calls: plans,
    durationMs: 5,
    ...result,
  } satisfies CallModelResult;
}

/** What a tool gave back for `call`; its random id is `r<call>`. */
export function toolResult(call: string, change: Partial<ToolResult> = {}): ToolResult {
  return { id: `r${call}`, call, tool: 'read', status: 'success', message: `result ${call}`, durationMs: 1, ...change };
}

export function envelope(id: string, change: Partial<Envelope> = {}): Envelope {
  return { id, at: 1_000, kind: 'message', body: { text: `message ${id}` }, by: 'test@host', ...change };
}

/** A conversation whose workspace is prepared. */
export function preparedConversation(input: RunInput = runInput()): Conversation {
  const opened = openConversation({ input, runId: 'run-1', now: 1_000 });
  return recordPrepared(opened, { id: 'prepared-1', facts: workspaceFacts }, input);
}

/** A conversation after its first answer. */
export function answeredConversation(options: AnswerOptions = {}, input: RunInput = runInput()): Conversation {
  return recordModel(preparedConversation(input), answer(1, options));
}
