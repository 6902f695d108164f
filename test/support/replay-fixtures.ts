import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { TemporalClient } from '../../src/temporal/connection';

const FIXTURES = path.resolve(__dirname, '../replay/v1');

/**
 * Records a run's history as a replay fixture when SUREHAND_RECORD is set. Recorded histories of a release are never
 * written again: a change that cannot replay them needs `patched()`.
 */
export async function keepFixture(temporal: TemporalClient, workflowId: string, name: string): Promise<void> {
  if (process.env['SUREHAND_RECORD'] === undefined) return;
  const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  await mkdir(FIXTURES, { recursive: true });
  await writeFile(path.join(FIXTURES, `${name}.json`), `${historyToJSON(history)}\n`);
}
