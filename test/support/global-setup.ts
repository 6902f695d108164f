import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { startDevServer, type DevServer } from '../../src/server/dev-server';
import { findTemporal } from '../../src/server/tool-paths';

declare global {
  var surehandTestServer: { readonly server: DevServer; readonly directory: string } | undefined;
}

/** One Temporal dev server and one workflow bundle for the whole suite; tests keep apart by their task queues. */
export default async function globalSetup(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'surehand-suite-'));
  const logger = new DefaultLogger('WARN');
  const [server, bundle] = await Promise.all([
    startDevServer({ binary: await findTemporal(process.env), directory, fast: true }),
    bundleWorkflowCode({ workflowsPath: path.resolve(__dirname, '../../src/workflows/agent.ts'), logger }),
  ]);
  const bundlePath = path.join(directory, 'workflow-bundle.js');
  await writeFile(bundlePath, bundle.code);
  process.env['SUREHAND_TEST_TEMPORAL'] = server.address;
  process.env['SUREHAND_TEST_BUNDLE'] = bundlePath;
  process.env['SUREHAND_TEST_UI'] = server.uiUrl;
  globalThis.surehandTestServer = { server, directory };
}
