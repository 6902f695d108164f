import { randomUUID } from 'node:crypto';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { handBack } from '../../src/activities/hand-back';
import { searchAttributePairs } from '../../src/temporal/search-attributes';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';
import { suiteAddress } from '../support/test-worker';
import { waitFor } from '../support/wait-for';

afterAll(removeTempDirectories);

test('a run is gone, or fails, between the list and its hand-back → the worker boots; only the failure is told', async () => {
  const connection = await Connection.connect({ address: suiteAddress() });
  const asked: string[] = [];
  const client = new Client({
    connection,
    interceptors: {
      workflow: [
        {
          describe: (input, next) => {
            const { workflowId } = input.workflowExecution;
            asked.push(workflowId);
            if (workflowId.startsWith('gone')) throw new WorkflowNotFoundError('gone', workflowId, undefined);
            if (workflowId.startsWith('bad')) throw new Error('no such luck');
            return next(input);
          },
        },
      ],
    },
  });
  const host = randomUUID();
  const ids = ['gone', 'bad', 'well'].map((name) => `${name}-${host}`);
  for (const workflowId of ids) {
    await client.workflow.start('agentWorkflow', {
      workflowId,
      taskQueue: host,
      typedSearchAttributes: searchAttributePairs({ SurehandHost: host }, ['SurehandHost']),
    });
  }
  const query = `SurehandHost = "${host}"`;
  await waitFor('the runs to be listed', async () => (await client.workflow.count(query)).count === ids.length);
  const warnings: string[] = [];

  const given = await handBack({
    client,
    hostId: host,
    identity: `surehand@${host}#1`,
    stateDirectory: await tempDirectory('state'),
    log: () => undefined,
    warn: (text) => warnings.push(text),
  });

  expect(given).toBe(0);
  expect([...asked].sort()).toEqual([...ids].sort());
  expect(warnings).toEqual([`the steps of bad-${host} were not given back: Error: no such luck`]);
  await connection.close();
});
