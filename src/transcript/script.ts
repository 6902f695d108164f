import { BLANK_ANSWER, type AssistantBlock } from '../contract/message';
import type { RunView, TurnView } from './view';

/** A turn in the form that the scripted model plays. */
export interface ScriptTurn {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  /** Stands for text and calls where they would not say everything. */
  readonly content?: readonly Readonly<Record<string, unknown>>[];
  readonly stop?: string;
  readonly usage?: TurnView['usage'];
}

/** What the model said in a run, as a script: played, it makes the same conversation. Calls that failed have no turn. */
export function scriptOf(view: RunView): { readonly turns: readonly ScriptTurn[] } {
  return { turns: view.turns.flatMap((turn) => (turn.content === undefined ? [] : scriptTurn(turn, turn.content))) };
}

function scriptTurn({ stopReason, usage }: TurnView, content: readonly AssistantBlock[]): ScriptTurn {
  const isBlank = content.length === 1 && content[0]?.type === 'text' && content[0].text === BLANK_ANSWER;
  const said = isBlank ? { content: [] } : (plainTurn(content) ?? { content: content.map(rawBlock) });
  const usual = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  return {
    ...said,
    ...(stopReason === undefined || stopReason === usual ? {} : { stop: stopReason }),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** A text, then calls: what people read and write most easily. `undefined` for anything else. */
function plainTurn(content: readonly AssistantBlock[]): Pick<ScriptTurn, 'text' | 'calls'> | undefined {
  const [first, ...rest] = content;
  const text = first?.type === 'text' && !('extra' in first) ? first.text : undefined;
  const calls = (text === undefined ? content : rest).map((block) =>
    block.type === 'tool_use' && !('extra' in block) && 'input' in block
      ? { id: block.id, name: block.name, input: block.input }
      : undefined,
  );
  if (calls.includes(undefined)) return undefined;
  return {
    ...(text === undefined ? {} : { text }),
    ...(calls.length === 0 ? {} : { calls: calls.filter((call) => call !== undefined) }),
  };
}

/** As an endpoint sends it. */
function rawBlock(block: AssistantBlock): Readonly<Record<string, unknown>> {
  if (block.type === 'opaque') return block['raw'] as Readonly<Record<string, unknown>>;
  if (block.type !== 'text' && block.type !== 'tool_use') return block;
  const { extra, ...fields } = block;
  return { ...fields, ...extra };
}
