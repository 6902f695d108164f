import { createHash } from 'node:crypto';
import type { RunInput } from '../contract/run-input';

/**
 * Tells "the same task again" from "another task": over task, workspace, model, permission mode, output schema and
 * the limits that people set. Who starts it, where from, and the timeouts do not count.
 */
export function runDigest(input: RunInput): string {
  const { maxTurns, maxTimeMs, maxCostUsd, maxTokens } = input.limits;
  const { provider, model, endpoint, script } = input.model;
  const parts = [
    'v1',
    input.task,
    input.workspace,
    [provider, model, endpoint, script ?? null],
    input.permission.mode,
    [maxTurns, maxTimeMs ?? null, maxCostUsd ?? null, maxTokens ?? null],
    // Only where there is one: the digests of runs without stay what they were.
    ...(input.outputSchema === undefined ? [] : [input.outputSchema]),
  ];
  return `v1:${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
}
