import type { AssistantMessage, Usage, UserMessage } from './message';

/** Facts that must not change during a run. Entry 0 of the transcript: the system prompt is a pure function of them. */
export interface WorkspaceFacts {
  readonly directory: string;
  readonly platform: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly git: GitFacts | null;
  readonly instructions: readonly InstructionFile[];
  readonly sandbox: SandboxState;
}

export interface GitFacts {
  readonly branch: string;
  readonly head: string;
  readonly changedFiles: number;
}

export interface InstructionFile {
  readonly path: string;
  readonly text: string;
  readonly omittedBytes: number;
}

export interface SandboxState {
  /** strict: bwrap holds · off: the operator switched it off · broken: it does not hold, commands are refused. */
  readonly mode: 'strict' | 'off' | 'broken';
  readonly detail: string;
  /** Hosts that sandboxed commands can reach by HTTP and HTTPS; absent: none. */
  readonly network?: readonly string[];
}

export interface PrepareInput {
  readonly seq: number;
  /** First run of the chain: with the workflow id it names the holder of the workspace. */
  readonly firstRunId: string;
}

export interface PrepareResult {
  readonly id: string;
  readonly facts: WorkspaceFacts;
}

/** One thing added to the transcript since the model call before, by reference. */
export type AddedRef =
  | { readonly prepared: string }
  | { readonly task: true }
  | { readonly activity: string; readonly id: string }
  | { readonly message: string }
  | { readonly inline: InlineResult }
  | { readonly note: string }
  | CompactedRef;

/** From here on the model gets the summary instead of what came before the message `keepFrom`. */
export interface CompactedRef {
  /** Random id of the summary's result. */
  readonly compacted: string;
  /** Activity that made it. */
  readonly activity: string;
  /** Id of the first assistant message that stays. */
  readonly keepFrom: string;
}

/** A result that workflow code made itself: a call that was denied, interrupted, unknown or not run. */
export interface InlineResult {
  readonly call: string;
  readonly text: string;
}

export interface CallModelInput {
  /** Counts schedulings of this very call. */
  readonly seq: number;
  readonly turn: number;
  /** Id of the assistant message before, `null` before the first. */
  readonly after: string | null;
  readonly added: readonly AddedRef[];
  readonly maxOutputTokens: number;
  /** Tries of this call that earlier schedulings used up, as far as the workflow knows. */
  readonly triesBefore: number;
  /** What they cost, likewise. */
  readonly spentBefore?: Spent;
}

/** Tokens and money of tries that brought no answer, as far as the endpoint told. */
export interface Spent {
  readonly usage: Readonly<Record<string, Usage>>;
  readonly costUsd: number | null;
}

export interface SummarizeInput {
  readonly seq: number;
  /** Number of the summary in the conversation, from 1. */
  readonly n: number;
  /** The turn that will follow; with `after` it finds the window. */
  readonly turn: number;
  readonly after: string | null;
  /** What earlier summaries the window of now has, by reference. */
  readonly added: readonly AddedRef[];
  readonly keepFrom: string;
  readonly maxOutputTokens: number;
  /** What has to stay word for word: it stands in the new opening beside the summary. */
  readonly notes: string;
}

export interface SummarizeResult {
  readonly id: string;
  /** The message that opens the window from now on: the task, the summary, the notes. `null`: the model said nothing. */
  readonly head: UserMessage | null;
  readonly usage: Usage;
  readonly model: string;
  readonly costUsd: number | null;
  readonly durationMs: number;
  /** Tries that failed, as in `CallModelResult`. */
  readonly spent?: Spent;
}

export type Effect = 'read' | 'write';
export type Verdict = 'allow' | 'ask' | 'deny';

/** What the host found out about a call of the model; the workflow decides on this alone. */
export interface PlannedCall {
  /** Machine id, `<message id>-<n>`. */
  readonly callId: string;
  /** Position in the message, from 1. */
  readonly n: number;
  /** Id of the `tool_use` block. */
  readonly blockId: string;
  readonly name: string;
  readonly known: boolean;
  readonly effect: Effect;
  /** Present only if coercion changed the model's input. */
  readonly input?: unknown;
  readonly summary: string;
  readonly verdict: Verdict;
  readonly reason: string;
  /** `v1:` and sha256 over tool, final input and directory. */
  readonly digest: string;
}

/** What a host can say of a call before the message that holds it has an id. */
export type CallPlan = Omit<PlannedCall, 'callId' | 'n' | 'blockId'>;

export interface CallModelResult {
  readonly message: AssistantMessage;
  readonly stopReason: string;
  /** Text of the endpoint about a refusal, if it gave one. */
  readonly stopDetail?: string;
  readonly usage: Usage;
  readonly model: string;
  readonly costUsd: number | null;
  readonly calls: readonly PlannedCall[];
  readonly durationMs: number;
  /** Tries of this call that failed: they are paid too, and are not in `usage` and `costUsd`. */
  readonly spent?: Spent;
}

export interface RunToolInput {
  readonly seq: number;
  /** `<turn>.<n>` */
  readonly call: string;
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  /** Digest the plan was made for; the host judges again and refuses what became stricter. */
  readonly digest: string;
  /** Digest that a person approved. */
  readonly grant?: string;
  /** How many bytes of JSON this call's result may take. */
  readonly shareBytes: number;
}

export type ToolStatus = 'success' | 'failed' | 'need_confirm';

export interface ToolResult {
  /** Random, so that the result of a lost attempt is never taken for this one. */
  readonly id: string;
  readonly call: string;
  readonly tool: string;
  readonly status: ToolStatus;
  /** For the model. */
  readonly message: string;
  /** For people. */
  readonly details?: ToolDetails;
  readonly durationMs: number;
}

export interface ToolDetails {
  /** Unified diff of a file change, cut to 8 KB. */
  readonly diff?: string;
  /** Workspace-relative paths this call changed. */
  readonly filesChanged?: readonly string[];
  readonly exitCode?: number;
  /** Where the whole output is, on the host. */
  readonly outputFile?: string;
  /** How the outcome was reached: `re-attached`, `recovered`, `replayed`. */
  readonly origin?: string;
}

export interface FinishInput {
  readonly seq: number;
  readonly firstRunId: string;
  /** The run is not over: a chat gives up the lease while it waits, and takes it again before its next change. */
  readonly pause?: true;
}

export interface FinishResult {
  /** Workspace-relative paths that the run changed, sorted; absent when the host cannot tell. At most 500 and 16 KB. */
  readonly filesChanged?: readonly string[];
  /** How many more there are. */
  readonly filesOmitted?: number;
}

/** Heartbeat details of a running step (at most 4 KB): what a follower shows while it runs. */
export interface StepProgress {
  readonly attempt: number;
  /** Tail of the streamed text or of the command's output. */
  readonly tail: string;
  readonly bytes: number;
  /** Of a model call, with the tries before this one: the next try goes on from here. */
  readonly spent?: Spent;
}
