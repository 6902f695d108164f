import { randomUUID } from 'node:crypto';
import { createCallExpiry, serverName } from '../../src/temporal/call-expiry';
import { connectClient, type TemporalClient } from '../../src/temporal/connection';
import { suiteAddress } from '../support/test-worker';

const DAY_MS = 24 * 60 * 60 * 1_000;

let temporal: TemporalClient;
beforeAll(async () => {
  temporal = await connectClient({ address: suiteAddress(), namespace: 'default' });
});
afterAll(() => temporal.close());

test('the name of a server → its address; the embedded one moves its port', () => {
  expect(serverName({ embedded: false, address: 'temporal:7233', namespace: 'agents' })).toBe('temporal:7233/agents');
  expect(serverName({ embedded: true, address: '127.0.0.1:4242', namespace: 'default' })).toBe('embedded');
});

test('calls → expired only when older than the retention and of no run that this server knows', async () => {
  const workflowId = `expiry-${randomUUID()}`;
  await temporal.client.workflow.start('agentWorkflow', { workflowId, taskQueue: workflowId });
  const isExpired = await createCallExpiry(temporal.client, 'embedded');
  const old = { hasEntry: true, workflowId: 'never-was', server: 'embedded', lastChangedMs: Date.now() - 91 * DAY_MS };

  const answers = {
    'of no known run': await isExpired(old),
    'too young': await isExpired({ ...old, lastChangedMs: Date.now() - 89 * DAY_MS }),
    'of a run that is known': await isExpired({ ...old, workflowId }),
    'of another server': await isExpired({ ...old, server: 'temporal:7233/agents' }),
    'damaged, so of nobody knows which run': await isExpired({ ...old, workflowId: undefined }),
    'left by a crash before the entry': await isExpired({ ...old, hasEntry: false, workflowId: undefined }),
  };

  expect(Object.entries(answers).filter(([, expired]) => expired)).toEqual([
    ['of no known run', true],
    ['left by a crash before the entry', true],
  ]);
  await temporal.client.workflow.getHandle(workflowId).terminate();
});
