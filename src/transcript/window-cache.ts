import { LRUCache } from 'lru-cache';
import type { CallModelInput, CallModelResult, ToolResult, WorkspaceFacts } from '../contract/activity';
import type { Message } from '../contract/message';
import type { RunInput } from '../contract/run-input';
import { jsonBytes } from '../conversation/json-size';
import type { RunFacts } from './facts';
import { callBlocks, createFold, HistoryGap, type CallBlock } from './fold';
import { windowOf, workspaceFacts, type WindowQuery } from './transcript';

export interface RunRef {
  readonly workflowId: string;
  readonly runId: string;
}

/** What an activity must know of its run. */
export interface RunContext {
  readonly input: RunInput;
  /** `null` until the workspace is prepared. */
  readonly facts: WorkspaceFacts | null;
}

export interface Window extends RunContext {
  readonly messages: readonly Message[];
}

export interface Windows {
  /** The run's input and entry 0. */
  context(run: RunRef): Promise<RunContext>;
  /** What the model is asked by this call. @throws HistoryGap when history lacks a part. */
  load(run: RunRef, call: WindowQuery): Promise<Window>;
  /** The model answered: the next call of this run finds the window here. */
  answered(run: RunRef, call: CallModelInput, window: Window, result: CallModelResult): void;
  /** A tool's result, for the next call's references. */
  keepResult(result: ToolResult): void;
}

export interface WindowsOptions {
  /** Reads a run's history; `headOnly` asks for its first events alone. */
  readonly readRun: (run: RunRef, options: { readonly headOnly: boolean }) => Promise<RunFacts>;
  /** 0 switches the cache off: everything is read from history. */
  readonly maxBytes: number;
}

interface Entry {
  readonly after: string;
  readonly messages: readonly Message[];
  readonly calls: readonly CallBlock[];
  readonly bytes: number;
}

/**
 * The worker's bounded cache of windows. History is the truth: a hit saves reading it, a miss is always right. An entry
 * is found by the id of the last assistant message, so the answer of a lost attempt is never used.
 */
export function createWindows({ readRun, maxBytes }: WindowsOptions): Windows {
  const size = Math.max(1, maxBytes);
  const entries = new LRUCache<string, Entry>({ maxSize: size, sizeCalculation: ({ bytes }) => Math.max(1, bytes) });
  const results = new LRUCache<string, ToolResult>({ maxSize: size, sizeCalculation: resultBytes });
  const enabled = maxBytes > 0;
  const contexts = createContexts(readRun, enabled);

  async function cached(run: RunRef, call: WindowQuery): Promise<Window | undefined> {
    const entry = entries.get(keyOf(run));
    if (!enabled || entry === undefined || entry.after !== call.after) return undefined;
    const known = await contexts.context(run);
    const lookup = {
      task: known.input.task,
      message: () => undefined,
      head: () => undefined,
      result: (_activityId: string, id: string) => results.get(id),
    };
    const fold = createFold(lookup, entry.messages, entry.calls);
    try {
      fold.add(call.added);
    } catch (error) {
      if (error instanceof HistoryGap) return undefined;
      throw error;
    }
    return { ...known, messages: fold.window() };
  }

  return {
    context: contexts.context,
    load: async (run, call) => {
      const hit = await cached(run, call);
      if (hit !== undefined) return hit;
      const facts = await readRun(run, { headOnly: false });
      return { ...contexts.remember(run, facts), messages: windowOf(facts, call) };
    },
    answered: (run, call, window, result) => {
      if (!enabled) return;
      const before = entries.get(keyOf(run));
      const isNext =
        before !== undefined && before.after === call.after && !call.added.some((ref) => 'compacted' in ref);
      const added = isNext ? window.messages.slice(before.messages.length) : window.messages;
      entries.set(keyOf(run), {
        after: result.message.id,
        messages: [...window.messages, result.message],
        calls: callBlocks(call.turn, result.calls),
        bytes: (isNext ? before.bytes : 0) + jsonBytes(added) + jsonBytes(result.message),
      });
    },
    keepResult: (result) => {
      if (enabled) results.set(result.id, result);
    },
  };
}

interface Contexts {
  readonly context: Windows['context'];
  readonly remember: (run: RunRef, facts: RunFacts) => RunContext;
}

function createContexts(readRun: WindowsOptions['readRun'], enabled: boolean): Contexts {
  const contexts = new LRUCache<string, RunContext>({ max: 1_000 });
  const remember = (run: RunRef, facts: RunFacts): RunContext => {
    const read = { input: facts.input, facts: workspaceFacts(facts) };
    if (read.facts !== null) contexts.set(keyOf(run), read);
    return read;
  };
  return {
    remember,
    context: async (run) => {
      const known = contexts.get(keyOf(run));
      if (known !== undefined && enabled) return known;
      const head = remember(run, await readRun(run, { headOnly: true }));
      // Waits for the host or many messages may have pushed the preparation out of the first events.
      return head.facts === null ? remember(run, await readRun(run, { headOnly: false })) : head;
    },
  };
}

function keyOf({ workflowId, runId }: RunRef): string {
  return `${workflowId}\n${runId}`;
}

function resultBytes(result: ToolResult): number {
  return Math.max(1, jsonBytes(result));
}
