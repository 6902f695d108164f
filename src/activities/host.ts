import type { CallPlan, FinishResult, ToolStatus, ToolDetails, WorkspaceFacts } from '../contract/activity';
import type { ModelChoice, RunInput } from '../contract/run-input';
import type { AbortMeaning } from './delivery';
import type { Model, ToolDefinition } from '../model/port';
import type { Redact } from '../redactor';
import type { RunContext, RunRef, Windows } from '../transcript/window-cache';

/** What the activities of a host work with. Composed in `worker.ts`; fakes stand in here and nowhere deeper. */
export interface Host {
  readonly windows: Windows;
  readonly models: (choice: ModelChoice) => Model;
  readonly toolbox: (run: RunContext & RunRef) => Toolbox;
  readonly workspaces: Workspaces;
  readonly systemPrompt: (input: PromptInput) => string;
  readonly costUsd: (
    model: string,
    usage: { input: number; output: number; cacheRead: number; cacheWrite: number },
  ) => number | null;
  /** Masks the worker's secrets in whatever leaves the host. */
  readonly redact: Redact;
}

export interface PromptInput {
  readonly facts: WorkspaceFacts;
  readonly tools: readonly ToolDefinition[];
  readonly unattended: boolean;
}

/** The tools of one run: bound to its workspace, its permission mode and the sandbox of this host. */
export interface Toolbox {
  definitions(): readonly ToolDefinition[];
  plan(call: { readonly name: string; readonly input: unknown }): CallPlan;
  execute(call: ToolCall, options: ExecuteOptions): Promise<Executed>;
}

export interface ToolCall {
  readonly call: string;
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly grant?: string;
}

export interface ExecuteOptions {
  readonly signal: AbortSignal;
  readonly meaning: () => AbortMeaning;
  readonly maxBytes: number;
  readonly onProgress: (tail: string, bytes: number) => void;
}

export interface Executed {
  readonly status: ToolStatus;
  readonly message: string;
  readonly details?: ToolDetails;
  readonly durationMs: number;
}

export interface Workspaces {
  /** Checks the directory, takes the lease, collects the facts. @throws PortError */
  prepare(input: RunInput, holder: LeaseHolder, signal: AbortSignal): Promise<WorkspaceFacts>;
  /**
   * Ends what the run left running in the background, tells what it changed and gives the lease back; nothing happens
   * when another run holds it. With `pause` the run is not over: its background commands go on, and keep the lease.
   */
  finish(input: RunInput, holder: LeaseHolder, options: { readonly pause: boolean }): Promise<FinishResult>;
}

export interface LeaseHolder {
  readonly workflowId: string;
  readonly firstRunId: string;
}
