import { z } from 'zod';
import type { WorkspaceFiles, TextSearch } from '../workspace/ports';
import { oneLine } from './file-text';
import { pause } from './pause';
import type { Tool, ToolContext, ToolOutput } from './tool';

/** What a tool of one's own gets to work with, beside whatever it imports: it runs in the worker's process. */
export interface OwnToolContext {
  /** Canonical path of the workspace. */
  readonly directory: string;
  /** The workspace's files, by paths that cannot leave it. */
  readonly files: WorkspaceFiles;
  readonly search: TextSearch;
  /** The same for every delivery of this call, and for no other call: an idempotency key for a service. */
  readonly callId: string;
  /** Aborted when somebody cancels. What does not stop then is left behind after five seconds. */
  readonly signal: AbortSignal;
  /** What a follower sees while it works. */
  progress(text: string): void;
}

/** For the model: what came of it. An error is for the model too; it is told by `isError`, or by throwing. */
export type OwnToolOutput = string | { readonly text: string; readonly isError?: boolean };

/** A tool as one's own module defines it. */
export interface OwnTool<Schema extends z.ZodObject = z.ZodObject> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** For the model: what it does, when to use it. */
  readonly description: string;
  readonly input: Schema;
  /** `read` changes nothing anywhere, so it may run again. A `write` is started at most once. */
  readonly effect: 'read' | 'write';
  /** A `write` asks in mode auto, since nothing confines it; `false` for one that may run without. */
  readonly asks?: boolean;
  /** One line for people, on what it works. Default: the input. */
  summary?(input: z.infer<Schema>): string;
  execute(input: z.infer<Schema>, context: OwnToolContext): Promise<OwnToolOutput> | OwnToolOutput;
}

/** What a module that exports a function gets, so that it needs no dependency. */
export interface ToolApi {
  readonly defineTool: typeof defineTool;
  readonly z: typeof z;
}

const SUMMARY_LENGTH = 120;
const STOPPING_MS = 5_000;

/** Gives `execute` and `summary` the input's type from the schema. */
export function defineTool<Schema extends z.ZodObject>(tool: OwnTool<Schema>): OwnTool {
  return tool;
}

/** What is wrong with a value that is to be a tool, in words that follow its name; undefined for a good one. */
export function faultOf(value: object): string | undefined {
  const parsed = ownToolSchema.safeParse(value);
  if (parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  return where === '' ? (issue?.message ?? 'is no tool') : `\`${where}\` ${issue?.message ?? ''}`;
}

/** Whether a value has the form that `faultOf` checks. */
export function isOwnTool(value: object): value is OwnTool {
  return faultOf(value) === undefined;
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const ownToolSchema = z.strictObject({
  name: z.string('must be a text').regex(/^[a-zA-Z0-9_-]{1,64}$/u, 'must be 1 to 64 letters, digits, "_" and "-"'),
  description: z.string('must be a text').min(1, 'must say what the tool does'),
  input: z.custom(
    (value) => value instanceof z.ZodObject,
    'must be a zod object, as z.object({ … }) of zod 4 makes it',
  ),
  effect: z.enum(['read', 'write'], 'must be "read" or "write"'),
  asks: z.boolean('must be true or false').optional(),
  summary: z.custom(isFunction, 'must be a function').optional(),
  execute: z.custom(isFunction, 'must be a function'),
});

/** A tool of one's own as the registry takes it. What it throws is an answer for the model, never a failure of the worker. */
export function toTool(own: OwnTool): Tool {
  return {
    name: own.name,
    description: own.description,
    schema: own.input,
    effect: own.effect,
    ...(own.effect === 'write' && own.asks !== false ? { asksInAuto: true } : {}),
    summarize: (input) => oneLine(summaryOf(own, input)).slice(0, SUMMARY_LENGTH),
    run: (input, context) => runOwn(own, input, context),
  };
}

function summaryOf(own: OwnTool, input: Readonly<Record<string, unknown>>): string {
  try {
    return own.summary?.(input) ?? JSON.stringify(input);
  } catch {
    return JSON.stringify(input);
  }
}

async function runOwn(
  own: OwnTool,
  input: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<ToolOutput> {
  const { files, search, callId, onProgress } = context;
  const controller = new AbortController();
  const onAbort = (): void => {
    // A worker that shuts down lets it go on: it may still come to its end and be recorded.
    if (context.signal.reason !== 'detach') controller.abort(context.signal.reason);
  };
  context.signal.addEventListener('abort', onAbort, { once: true });
  const work = async (): Promise<ToolOutput> => {
    try {
      const progress = (text: string): void => onProgress(text, text.length);
      const given = { directory: files.directory, files, search, callId, signal: controller.signal, progress };
      return toOutput(own.name, await own.execute(input, given));
    } catch (error) {
      if (controller.signal.aborted) return cancelled(own, true);
      return { text: `${own.name} failed: ${error instanceof Error ? error.message : String(error)}`, isError: true };
    }
  };
  const over = new AbortController();
  try {
    return await Promise.race([work(), leftBehind(own, controller.signal, over.signal)]);
  } finally {
    over.abort();
    context.signal.removeEventListener('abort', onAbort);
  }
}

/** Settles only some time after a cancellation. */
async function leftBehind(own: OwnTool, signal: AbortSignal, over: AbortSignal): Promise<ToolOutput> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await pause(STOPPING_MS, over);
  return cancelled(own, false);
}

function cancelled({ name, effect }: OwnTool, hasStopped: boolean): ToolOutput {
  const state = hasStopped ? `${name} was cancelled.` : `${name} was cancelled and did not stop; it may still run.`;
  const effects = effect === 'read' ? '' : ' It may have had none, some or all of its effects.';
  return { text: state + effects, isError: true };
}

function toOutput(name: string, output: unknown): ToolOutput {
  if (typeof output === 'string') return { text: output };
  if (typeof output === 'object' && output !== null && 'text' in output && typeof output.text === 'string') {
    return { text: output.text, isError: 'isError' in output && output.isError === true };
  }
  return { text: `${name} ended, but it answered no text, so what came of it is not known.`, isError: true };
}
