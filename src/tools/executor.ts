import type { CallPlan, Effect, ToolDetails, ToolStatus, Verdict } from '../contract/activity';
import { coerceInput } from './coerce';
import type { Coerced } from './coerce';
import { cutMiddle } from './cut-text';
import { oneLine } from './file-text';
import { isWorkspaceError } from './is-workspace-error';
import { pause } from './pause';
import type { ToolRegistry, ToolSchema } from './registry';
import type { StartedCommand, WorkspaceFiles } from '../workspace/ports';
import type { Tool, ToolContext, ToolOutput, ToolWorld } from './tool';
import { toVisibleText } from './visible-text';

/** What the gate is asked about a call: nothing of the model's text decides beside these facts. */
export interface PermitRequest {
  readonly tool: string;
  readonly effect: Effect;
  readonly runsCommands: boolean;
  /** Its changes are not confined to the workspace. */
  readonly asksInAuto: boolean;
  /** The final input; `undefined` if it is not valid, in which case nothing will run. */
  readonly input: Readonly<Record<string, unknown>> | undefined;
  /** Paths that the call would write, as the model named them. */
  readonly writes: readonly string[];
}

export interface Permit {
  readonly verdict: Verdict;
  readonly reason: string;
}

export interface ExecutorOptions {
  readonly registry: ToolRegistry;
  readonly world: ToolWorld;
  readonly permit: (request: PermitRequest) => Permit;
  /** What an approval binds to: tool, final input, directory. */
  readonly digest: (tool: string, input: unknown) => string;
  /** Makes a call's machine id unique over all runs of the host. Default: the id itself. */
  readonly callKey?: (callId: string) => string;
  /** Further tries of a read whose error its tool marks transient. Default 2. */
  readonly retries?: number;
  /** Default 1000. */
  readonly retryDelayMs?: number;
  readonly log?: (entry: ToolLogEntry) => void;
}

export interface ToolLogEntry {
  readonly callId: string;
  readonly tool: string;
  readonly step: 'start' | 'unknown' | 'denied' | 'need_confirm' | 'invalid' | 'retry' | 'success' | 'failed' | 'bug';
  readonly detail?: string;
  readonly durationMs?: number;
}

export interface ToolCallRequest {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  /** Digest that a person approved. */
  readonly grant?: string;
}

export interface ToolCallOptions {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly onProgress: (tail: string, bytes: number) => void;
  /** Instead of the world's: files that note each write in the call's journal entry. */
  readonly files?: WorkspaceFiles;
}

export interface ToolOutcome {
  readonly status: ToolStatus;
  /** For the model. */
  readonly message: string;
  readonly details?: ToolDetails;
  readonly tool: string;
  readonly durationMs: number;
}

export interface Executor {
  definitions(): readonly ToolSchema[];
  /** What would happen to a call, without doing it. Never throws. */
  plan(call: { readonly name: string; readonly input: unknown }): CallPlan;
  /**
   * exists → permitted → input valid → execute. Whatever the model can act on is an outcome; an abort throws the
   * signal's reason, and only a bug throws anything else.
   */
  execute(call: ToolCallRequest, options: ToolCallOptions): Promise<ToolOutcome>;
  /** Takes up a command that an earlier delivery of this call started. It was permitted then, so it is not judged again. */
  resume(call: ToolCallRequest, command: StartedCommand, options: ToolCallOptions): Promise<ToolOutcome>;
}

export function createExecutor(options: ExecutorOptions): Executor {
  return {
    definitions: () => options.registry.definitions(),
    plan: (call) => planCall(options, call),
    execute: (call, callOptions) => timed(options, call, callOptions, () => executeCall(options, call, callOptions)),
    resume: (call, command, callOptions) =>
      timed(options, call, callOptions, () => resumeCall(options, { call, command }, callOptions)),
  };
}

async function timed(
  options: ExecutorOptions,
  call: ToolCallRequest,
  { maxBytes }: ToolCallOptions,
  work: () => Promise<Answer>,
): Promise<ToolOutcome> {
  const startedAt = performance.now();
  const answer = await work();
  const durationMs = Math.round(performance.now() - startedAt);
  const { text } = cutMiddle(answer.message, maxBytes, (omitted) => `\n[… ${omitted} bytes left out …]\n`);
  options.log?.({ callId: call.callId, tool: answer.tool, step: answer.step, durationMs });
  return {
    status: answer.status,
    message: text,
    ...(answer.details === undefined ? {} : { details: answer.details }),
    tool: answer.tool,
    durationMs,
  };
}

async function resumeCall(
  options: ExecutorOptions,
  { call, command }: { readonly call: ToolCallRequest; readonly command: StartedCommand },
  callOptions: ToolCallOptions,
): Promise<Answer> {
  const tool = findTool(options.registry, call.name);
  const coerced = tool === undefined ? undefined : coerceInput(tool.schema, call.input);
  if (tool?.resume === undefined || coerced?.ok !== true) {
    const message = `The tool ${call.name} that started this command is not here any more; its output is in ${command.outputFile}.`;
    return { step: 'failed', status: 'failed', message, tool: call.name };
  }
  return toAnswer(tool.name, await tool.resume(command, coerced.input, contextOf(options, call, callOptions)));
}

function contextOf(options: ExecutorOptions, call: ToolCallRequest, callOptions: ToolCallOptions): ToolContext {
  const { files, ...rest } = callOptions;
  const keyOf = (id: string): string => options.callKey?.(id) ?? id;
  const ids = { id: call.callId, callId: keyOf(call.callId), keyOf };
  return { ...options.world, ...rest, ...(files === undefined ? {} : { files }), ...ids };
}

interface Judged extends Permit {
  readonly tool: Tool;
  readonly effect: Effect;
  readonly coerced: Coerced;
}

/** The same judgement for plan and execution: one parse, one object from the gate to the tool. */
function judge(options: ExecutorOptions, tool: Tool, input: unknown): Judged {
  const coerced = coerceInput(tool.schema, input);
  const valid = coerced.ok ? coerced.input : undefined;
  const effect = valid === undefined ? tool.effect : (tool.effectOf?.(valid, options.world.sandbox) ?? tool.effect);
  const permit = options.permit({
    tool: tool.name,
    effect,
    runsCommands: tool.runsCommands ?? false,
    asksInAuto: tool.asksInAuto ?? false,
    input: valid,
    writes: valid === undefined ? [] : (tool.writes?.(valid) ?? []),
  });
  return { tool, effect, coerced, ...permit };
}

function planCall(options: ExecutorOptions, call: { readonly name: string; readonly input: unknown }): CallPlan {
  const tool = findTool(options.registry, call.name);
  if (tool === undefined) {
    return {
      name: call.name,
      known: false,
      effect: 'write',
      summary: summarizeRaw(call.input),
      verdict: 'allow',
      reason: `There is no tool named ${call.name}; the call ends as an error.`,
      digest: options.digest(call.name, call.input),
    };
  }
  const { coerced, effect, verdict, reason } = judge(options, tool, call.input);
  const base = { name: tool.name, known: true, effect };
  if (!coerced.ok) {
    // An ask would have a person judge what cannot run anyway.
    const allowed = verdict === 'deny' ? { verdict, reason } : { verdict: 'allow' as const, reason: coerced.message };
    return { ...base, summary: summarizeRaw(call.input), ...allowed, digest: options.digest(tool.name, call.input) };
  }
  return {
    ...base,
    ...(coerced.changed ? { input: coerced.input } : {}),
    summary: toVisibleText(tool.summarize(coerced.input)).slice(0, 200),
    verdict,
    reason,
    digest: options.digest(tool.name, coerced.input),
  };
}

interface Answer {
  readonly step: ToolLogEntry['step'];
  readonly status: ToolStatus;
  readonly message: string;
  readonly tool: string;
  readonly details?: ToolDetails;
}

async function executeCall(
  options: ExecutorOptions,
  call: ToolCallRequest,
  callOptions: ToolCallOptions,
): Promise<Answer> {
  const tool = findTool(options.registry, call.name);
  if (tool === undefined) {
    const message = `There is no tool named "${call.name}". The tools are: ${options.registry.names().join(', ')}.`;
    return { step: 'unknown', status: 'failed', message, tool: call.name };
  }
  options.log?.({ callId: call.callId, tool: tool.name, step: 'start' });
  const { coerced, effect, verdict, reason } = judge(options, tool, call.input);
  if (verdict === 'deny') return { step: 'denied', status: 'failed', message: `Denied: ${reason}`, tool: tool.name };
  if (!coerced.ok) return { step: 'invalid', status: 'failed', message: coerced.message, tool: tool.name };
  if (verdict === 'ask' && call.grant !== options.digest(tool.name, coerced.input)) {
    return { step: 'need_confirm', status: 'need_confirm', message: reason, tool: tool.name };
  }
  const context = contextOf(options, call, callOptions);
  const tries = effect === 'read' ? 1 + (options.retries ?? 2) : 1;
  return await runTool(options, { call, tool, input: coerced.input, tries }, context);
}

async function runTool(
  options: ExecutorOptions,
  run: {
    readonly call: ToolCallRequest;
    readonly tool: Tool;
    readonly input: Readonly<Record<string, unknown>>;
    readonly tries: number;
  },
  context: ToolContext,
): Promise<Answer> {
  const { call, tool } = run;
  for (let left = run.tries - 1; ; left -= 1) {
    context.signal.throwIfAborted();
    try {
      return toAnswer(tool.name, await tool.run(run.input, context));
    } catch (error) {
      context.signal.throwIfAborted();
      const transient = tool.isTransient?.(error) ?? false;
      const detail = error instanceof Error ? error.message : String(error);
      if (transient && left > 0) {
        options.log?.({ callId: call.callId, tool: tool.name, step: 'retry', detail });
        await pause(options.retryDelayMs ?? 1000, context.signal);
        continue;
      }
      if (transient || isWorkspaceError(error)) return toAnswer(tool.name, { text: detail, isError: true });
      options.log?.({ callId: call.callId, tool: tool.name, step: 'bug', detail });
      throw error;
    }
  }
}

function toAnswer(tool: string, output: ToolOutput): Answer {
  const status = output.isError === true ? 'failed' : 'success';
  const details = output.details === undefined ? {} : { details: output.details };
  return { step: status, status, message: output.text, tool, ...details };
}

/** By its exact name, else by the only one that differs in case alone. */
function findTool(registry: ToolRegistry, name: string): Tool | undefined {
  const exact = registry.get(name);
  if (exact !== undefined) return exact;
  const similar = registry.names().filter((known) => known.toLowerCase() === name.toLowerCase());
  const [only] = similar;
  return similar.length === 1 && only !== undefined ? registry.get(only) : undefined;
}

function summarizeRaw(input: unknown): string {
  return toVisibleText(oneLine(input === undefined ? '' : JSON.stringify(input)));
}
