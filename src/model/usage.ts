import type { Usage } from '../contract/message';
import { countAt, recordAt } from './json-record';
import type { JsonRecord } from './json-record';

/**
 * The four counters from an endpoint's `usage`. The Messages API counts cached tokens beside `input_tokens`; the other
 * style (`prompt_tokens`) counts them within. What is missing is 0.
 */
export function toUsage(usage: JsonRecord): Usage {
  const prompt = countAt(usage, 'prompt_tokens');
  if (prompt !== undefined && countAt(usage, 'input_tokens') === undefined) {
    const cached = countAt(recordAt(usage, 'prompt_tokens_details'), 'cached_tokens') ?? 0;
    return {
      input: Math.max(0, prompt - cached),
      output: countAt(usage, 'completion_tokens') ?? 0,
      cacheRead: cached,
      cacheWrite: 0,
    };
  }
  return {
    input: countAt(usage, 'input_tokens') ?? 0,
    output: countAt(usage, 'output_tokens') ?? 0,
    cacheRead: countAt(usage, 'cache_read_input_tokens') ?? 0,
    cacheWrite: countAt(usage, 'cache_creation_input_tokens') ?? 0,
  };
}
