import type { ResultDocument } from '../../../src/contract/result-document';
import type { RunInput } from '../../../src/contract/run-input';
import type { RunView, StepView, TurnView } from '../../../src/transcript/view';

export function runInput(changes: Partial<RunInput> = {}): RunInput {
  return {
    schemaVersion: 1,
    kind: 'task',
    task: 'fix the test',
    workspace: '/src/shop',
    hostId: 'abcdefghijkl',
    hostQueue: 'surehand-host-abcdefghijkl',
    model: { provider: 'scripted', model: 'demo', endpoint: 'scripted', script: 'turns: []' },
    limits: { maxTurns: 100, maxOutputTokens: 16384, hostWaitMs: 1000 },
    permission: { mode: 'auto', unattended: false },
    timeouts: {
      heartbeatMs: 1,
      modelCallMs: 1,
      toolCallMs: 1,
      prepareMs: 1,
      scheduleToStartMs: 1,
      hostWaitMaxMs: 1,
      retryInitialMs: 1,
      retryMaxMs: 1,
      modelAttempts: 1,
      finishMs: 1,
    },
    searchAttributes: [],
    startedBy: 'ann@box',
    depth: 0,
    ...changes,
  };
}

export function step(changes: Partial<StepView> = {}): StepView {
  return {
    call: '1.1',
    activityId: 'tool-1.1',
    tool: 'bash',
    summary: 'npm test',
    input: { command: 'npm test' },
    status: 'success',
    startedAt: 1_000,
    durationMs: 1_234,
    result: 'ok',
    ...changes,
  };
}

export function turn(changes: Partial<TurnView> = {}): TurnView {
  return { turn: 1, said: [], status: 'done', text: '', startedAt: 1_000, durationMs: 500, steps: [], ...changes };
}

export function runView(turns: readonly TurnView[], changes: Partial<RunView> = {}): RunView {
  return {
    workflowId: 'fix-k3f9',
    runId: 'run-1',
    input: runInput(),
    startedAt: 1_000,
    messages: [],
    turns,
    closed: false,
    todos: [],
    received: [],
    atRest: false,
    unread: [],
    historyBytes: 0,
    historyEvents: 0,
    earlierPartGone: false,
    ...changes,
  };
}

export function resultDocument(changes: Partial<ResultDocument> = {}): ResultDocument {
  return {
    schemaVersion: 1,
    runId: 'run-1',
    workflowId: 'fix-k3f9',
    outcome: 'done',
    isError: false,
    text: 'It works.',
    textBytes: 9,
    structured: null,
    turns: 2,
    durationMs: 6_200,
    usage: { demo: { input: 1_000, output: 56, cacheRead: 200, cacheWrite: 34 } },
    costUsd: null,
    denials: [],
    filesChanged: [],
    error: null,
    ...changes,
  };
}
