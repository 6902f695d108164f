import type { CallPlan } from '../../src/contract/activity';
import type { Executed, ExecuteOptions, ToolCall, Toolbox } from '../../src/activities/host';

export type TestTool = (call: ToolCall, options: ExecuteOptions) => Promise<Executed> | Executed;

/** A toolbox of plain functions: names beginning with `write` change something, `deny…` and `ask…` are judged so. */
export function testToolbox(tools: Readonly<Record<string, TestTool>> = {}): Toolbox {
  const known = new Map<string, TestTool>(Object.entries({ read: echo, write: echo, ...tools }));
  return {
    definitions: () =>
      [...known.keys()].sort().map((name) => ({
        name,
        description: name,
        inputSchema: { type: 'object', properties: {}, required: [] },
      })),
    plan: ({ name, input }) => planOf(name, input, known.has(name)),
    execute: async (call, options) => {
      const tool = known.get(call.name);
      if (tool === undefined) throw new Error(`test tool ${call.name} is not known`);
      return tool(call, options);
    },
  };
}

export function success(message: string): Executed {
  return { status: 'success', message, durationMs: 1 };
}

function echo({ input }: ToolCall): Executed {
  const { text } = input as { readonly text?: string };
  return success(text ?? 'ok');
}

function planOf(name: string, input: unknown, known: boolean): CallPlan {
  const verdict = name.startsWith('deny') ? 'deny' : name.startsWith('ask') ? 'ask' : 'allow';
  return {
    name,
    known,
    effect: known && !name.startsWith('write') ? 'read' : 'write',
    summary: JSON.stringify(input).slice(0, 100),
    verdict,
    reason: known ? (verdict === 'allow' ? '' : 'by the test') : `there is no tool named ${name}`,
    digest: 'v1:0',
  };
}
