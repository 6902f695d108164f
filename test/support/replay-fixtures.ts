import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { TemporalClient } from '../../src/temporal/connection';

/** The generation that is not released yet; those before it are never written again. */
const FIXTURES = path.resolve(__dirname, '../replay/v2');

/**
 * Records the history of a chain's newest run as a replay fixture when SUREHAND_RECORD is set. Recorded histories of a
 * release are never written again: a change that cannot replay them needs `patched()`. Who recorded it is left out.
 */
export async function keepFixture(temporal: TemporalClient, workflowId: string, name: string): Promise<void> {
  if (process.env['SUREHAND_RECORD'] === undefined) return;
  const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  await mkdir(FIXTURES, { recursive: true });
  const text = historyToJSON(history)
    .replace(/("identity": ?)"[^"]*"/g, '$1"test@host"')
    // A sticky queue is named after its worker's process and machine.
    .replace(/"\d+@[^"]*-([0-9a-f]{32})"/g, '"test@host-$1"');
  await writeFile(path.join(FIXTURES, `${name}.json`), `${text}\n`);
}
