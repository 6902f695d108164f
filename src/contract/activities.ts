import type {
  CallModelInput,
  CallModelResult,
  FinishInput,
  FinishResult,
  PrepareInput,
  PrepareResult,
  RunToolInput,
  SummarizeInput,
  SummarizeResult,
  ToolResult,
} from './activity';

/** The activities of a host, as the workflow calls them and the worker registers them. */
export interface HostActivities {
  prepareWorkspace(input: PrepareInput): Promise<PrepareResult>;
  callModel(input: CallModelInput): Promise<CallModelResult>;
  runTool(input: RunToolInput): Promise<ToolResult>;
  summarize(input: SummarizeInput): Promise<SummarizeResult>;
  /** A worker of an earlier build answers nothing. */
  finishWorkspace(input: FinishInput): Promise<FinishResult | undefined>;
}
