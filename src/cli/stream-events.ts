import type { ResultDocument } from '../contract/result-document';
import type { RunView } from '../transcript/view';

/** One line of `--stream-json`. New types and new fields may come; readers skip what they do not know. */
export type StreamEvent =
  | { readonly type: 'started'; readonly workflowId: string; readonly runId: string; readonly state: string }
  | { readonly type: 'message'; readonly turn: number; readonly by: string; readonly text: string }
  | { readonly type: 'text'; readonly turn: number; readonly text: string }
  | {
      readonly type: 'step';
      readonly call: string;
      readonly tool: string;
      readonly summary: string;
      readonly status: string;
      readonly durationMs: number | null;
      readonly result: string;
    }
  | { readonly type: 'result'; readonly result: ResultDocument };

/** Answers, for each view, the events that the views before did not have. */
export function createEventSource(): (view: RunView) => StreamEvent[] {
  const sent = new Set<string>();
  const isNew = (key: string): boolean => !sent.has(key) && sent.add(key).has(key);
  return (view) =>
    view.turns.flatMap((turn): StreamEvent[] => {
      const said = turn.said
        .filter((_, index) => isNew(`said ${turn.turn} ${index}`))
        .map(({ by, text }): StreamEvent => ({ type: 'message', turn: turn.turn, by, text }));
      if (turn.status === 'running') return said;
      const text: StreamEvent[] =
        turn.text !== '' && isNew(`text ${turn.turn}`) ? [{ type: 'text', turn: turn.turn, text: turn.text }] : [];
      const steps = turn.steps
        .filter(({ status, call }) => status !== 'running' && status !== 'waiting' && isNew(`step ${call}`))
        .map(({ call, tool, summary, status, durationMs, result }): StreamEvent => ({
          type: 'step',
          call,
          tool,
          summary,
          status,
          durationMs: durationMs ?? null,
          result: result ?? '',
        }));
      return [...said, ...text, ...steps];
    });
}
