import type { Client } from '@temporalio/client';
import { PortError } from '../contract/port-error';
import { createCodecs } from '../temporal/data-converter';
import { historyPages } from '../temporal/history';
import { createHistoryDecoder } from '../transcript/decode-history';
import type { RunFacts } from '../transcript/facts';
import type { RunRef } from '../transcript/window-cache';

/** Enough for the start, the workspace's preparation and the first call. */
const HEAD_EVENTS = 20;

/**
 * Reads a run's history into facts.
 * @throws PortError when there is none.
 */
export async function readRun(
  client: Client,
  run: RunRef,
  { headOnly }: { readonly headOnly: boolean },
): Promise<RunFacts> {
  const decoder = createHistoryDecoder(run.runId, { codecs: createCodecs() });
  const query = { ...run, followChain: false, ...(headOnly ? { pageSize: HEAD_EVENTS } : {}) };
  for await (const { events } of historyPages(client, query)) {
    await decoder.push(events);
    if (headOnly) break;
  }
  const facts = decoder.facts();
  if (facts !== undefined) return facts;
  const detail = `the history of ${run.workflowId} is gone`;
  throw new PortError({ class: 'history_unreadable', retryable: false, detail });
}
