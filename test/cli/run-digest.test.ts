import { runDigest } from '../../src/cli/run-digest';
import type { RunInput } from '../../src/contract/run-input';
import { runInput } from './support/views';

const base = runInput();

test('runDigest: pinned, because it decides whether a repeated command attaches', () => {
  expect(runDigest(base)).toMatch(/^v1:[0-9a-f]{32}$/);
  expect(runDigest(base)).toBe(runDigest(runInput()));
});

test.each<[string, Partial<RunInput>]>([
  ['task', { task: 'another' }],
  ['workspace', { workspace: '/src/other' }],
  ['model', { model: { ...base.model, model: 'other' } }],
  ['script', { model: { ...base.model, script: 'turns: [1]' } }],
  ['endpoint', { model: { ...base.model, endpoint: 'lab' } }],
  ['mode', { permission: { mode: 'ask', unattended: false } }],
  ['turn limit', { limits: { ...base.limits, maxTurns: 5 } }],
  ['time limit', { limits: { ...base.limits, maxTimeMs: 5 } }],
  ['cost limit', { limits: { ...base.limits, maxCostUsd: 5 } }],
  ['token limit', { limits: { ...base.limits, maxTokens: 5 } }],
])('runDigest: another %s → another digest', (_name, change) => {
  expect(runDigest(runInput(change))).not.toBe(runDigest(base));
});

test.each<[string, Partial<RunInput>]>([
  ['who starts it', { startedBy: 'bob@ci' }],
  ['whether somebody is there', { permission: { mode: 'auto', unattended: true } }],
  ['how long it waits for a host', { limits: { ...base.limits, hostWaitMs: 7 } }],
  ['the host', { hostId: 'zzzzzzzzzzzz', hostQueue: 'q' }],
  ['a timeout', { timeouts: { ...base.timeouts, heartbeatMs: 99 } }],
])('runDigest: %s does not count', (_name, change) => {
  expect(runDigest(runInput(change))).toBe(runDigest(base));
});
