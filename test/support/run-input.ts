import type { RunInput } from '../../src/contract/run-input';

/** A run input with short timeouts; the script is the scripted model's YAML. */
export function runInput(change: Partial<RunInput> = {}): RunInput {
  return {
    schemaVersion: 1,
    kind: 'task',
    task: 'Do the work.',
    workspace: '/nowhere',
    hostId: 'testhost',
    hostQueue: 'unset',
    model: { provider: 'scripted', model: 'test', endpoint: 'default', script: 'turns: [{ text: Done. }]' },
    limits: { maxTurns: 400, maxOutputTokens: 4096, hostWaitMs: 60_000 },
    permission: { mode: 'auto', unattended: false },
    timeouts: {
      heartbeatMs: 2_000,
      modelCallMs: 30_000,
      toolCallMs: 60_000,
      prepareMs: 10_000,
      scheduleToStartMs: 10_000,
      hostWaitMaxMs: 20_000,
      retryInitialMs: 50,
      retryMaxMs: 500,
      modelAttempts: 5,
      finishMs: 5_000,
    },
    searchAttributes: ['SurehandState', 'SurehandTurns'],
    startedBy: 'test@host',
    depth: 0,
    ...change,
  };
}
