import type { HostActivities } from '../contract/activities';
import { createCallModel } from './call-model';
import type { Host } from './host';
import { createRunTool } from './run-tool';
import { createSummarize } from './summarize';
import { createFinishWorkspace, createPrepareWorkspace } from './workspace-steps';

/** The activities of a host, as the worker registers them. */
export function createActivities(host: Host): HostActivities {
  return {
    prepareWorkspace: createPrepareWorkspace(host),
    callModel: createCallModel(host),
    runTool: createRunTool(host),
    summarize: createSummarize(host),
    finishWorkspace: createFinishWorkspace(host),
  };
}
