import type {
  CallModelInput,
  CallModelResult,
  FinishInput,
  PrepareInput,
  PrepareResult,
  RunToolInput,
  ToolResult,
} from './activity';

/** The activities of a host, as the workflow calls them and the worker registers them. */
export interface HostActivities {
  prepareWorkspace(input: PrepareInput): Promise<PrepareResult>;
  callModel(input: CallModelInput): Promise<CallModelResult>;
  runTool(input: RunToolInput): Promise<ToolResult>;
  finishWorkspace(input: FinishInput): Promise<void>;
}
