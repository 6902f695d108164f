import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';

const RECORDED = __dirname;

const fixtures = readdirSync(RECORDED, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => readdirSync(path.join(RECORDED, name)).map((file) => [name, file] as const));

test('the recorded histories are there', () => {
  expect(fixtures.length).toBeGreaterThanOrEqual(5);
});

test.each(fixtures)('history of generation %s, %s → replays with the workflow of today', async (generation, file) => {
  const history = historyFromJSON(JSON.parse(readFileSync(path.join(RECORDED, generation, file), 'utf8')));

  await Worker.runReplayHistory({ workflowBundle: { codePath: process.env['SUREHAND_TEST_BUNDLE'] ?? '' } }, history);
});
