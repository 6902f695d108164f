/** Bundles the compiled workflows of one build directory: `node bundle-workflows.mjs DIRECTORY`. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';

const directory = process.argv[2];
const { code } = await bundleWorkflowCode({
  workflowsPath: path.join(directory, 'workflows', 'agent.js'),
  logger: new DefaultLogger('WARN'),
});
await writeFile(path.join(directory, 'workflow-bundle.js'), code);
