import type { z } from 'zod';
import type { Effect, SandboxState, ToolDetails } from '../contract/activity';
import type { CommandRunner, SeenFiles, StartedCommand, TextSearch, WorkspaceFiles } from '../workspace/ports';

/** The part of the world that all calls of a run share. */
export interface ToolWorld {
  readonly files: WorkspaceFiles;
  readonly seen: SeenFiles;
  readonly commands: CommandRunner;
  readonly search: TextSearch;
  readonly sandbox: SandboxState;
}

/** What a tool gets to work with. It has no other way to the world. */
export interface ToolContext extends ToolWorld {
  /** Key of the call, unique over all runs of this host: names journals and output files. */
  readonly callId: string;
  /** The call's id as the model may name it later. */
  readonly id: string;
  /** The key of another call of this run, by its id. */
  readonly keyOf: (id: string) => string;
  /** Aborted when the step is to stop. With the reason `detach` the command goes on and nothing is reported. */
  readonly signal: AbortSignal;
  readonly onProgress: (tail: string, bytes: number) => void;
  /** UTF-8 bytes the text may take. */
  readonly maxBytes: number;
}

export interface ToolOutput {
  /** For the model: what happened and the next step to take. */
  readonly text: string;
  readonly isError?: boolean;
  readonly details?: ToolDetails;
}

/** A tool is one value: what the model reads, what is checked, what runs. Adding one touches its file and the registry. */
export interface Tool<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  /** What the model is shown instead of the schema's own JSON Schema. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  readonly effect: Effect;
  /** Runs a program of the model's choice, so it needs a sandbox that holds. */
  readonly runsCommands?: boolean;
  /** Its changes are not confined to the workspace, so they ask although mode auto allows changes. */
  readonly asksInAuto?: boolean;
  /** What can go wrong for the person's machine; shown when the call asks. */
  readonly danger?: string;
  /** For a tool whose calls differ: the effect of this one. It may only be weaker than `effect`. */
  effectOf?(input: z.infer<Schema>, sandbox: SandboxState): Effect;
  /** Paths that this call would write, as the model named them. */
  writes?(input: z.infer<Schema>): readonly string[];
  /** One line for people: on what. At most 120 characters, e.g. the path or the command. */
  summarize(input: z.infer<Schema>): string;
  /** Marks errors that a read may simply try again. */
  isTransient?(error: unknown): boolean;
  run(input: z.infer<Schema>, context: ToolContext): Promise<ToolOutput>;
  /** Takes up the command that an earlier delivery of the call started: follows it to its end and reports. */
  resume?(command: StartedCommand, input: z.infer<Schema>, context: ToolContext): Promise<ToolOutput>;
}

/** Gives `run` and its siblings the input's type from the schema. */
export function defineTool<Schema extends z.ZodObject>(tool: Tool<Schema>): Tool {
  return tool;
}
