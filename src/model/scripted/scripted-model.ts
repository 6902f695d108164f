import type { AssistantBlock, Usage } from '../../contract/message';
import { PortError } from '../../contract/port-error';
import { abortableSleep } from '../abortable-sleep';
import { checkAnswerSize } from '../answer-size';
import { toAssistantBlock } from '../assistant-block';
import { toEndpointFailure } from '../endpoint-failure';
import type { Model, ModelCallOptions, ModelRequest, ModelResponse } from '../port';
import { prepareCall } from '../prepare-call';
import type { WireRequest } from '../wire';
import { expectResults } from './expect-results';
import { parseScript } from './script';
import type { Script, ScriptTurn } from './script';

const ENDPOINT = 'The scripted endpoint';
const MAX_CACHED_SCRIPTS = 8;
const CHUNKS = 6;
const CHARS_PER_TOKEN = 4;

export interface ScriptedModelOptions {
  readonly onWarning?: (text: string) => void;
}

/**
 * Plays the script in `request.script`. The entry is chosen by `turn` and `tryNumber` alone, so that a call repeated or
 * moved to another process gets the same answer. Throws `PortError`: what the script says the endpoint does, or
 * `script_invalid`, `script_exhausted`, `script_expectation`.
 */
export function createScriptedModel(options: ScriptedModelOptions = {}): Model {
  const readScript = createScriptReader();
  const onWarning = options.onWarning ?? (() => undefined);
  return {
    async respond(request, call) {
      call.signal.throwIfAborted();
      const script = readScript(request.script ?? '');
      const body = await prepareCall(request, onWarning);
      return request.summary === undefined
        ? playTurn(script, request, body, call)
        : playSummary(script, request.summary, request, body);
    },
  };
}

async function playTurn(
  script: Script,
  request: ModelRequest,
  body: WireRequest,
  call: ModelCallOptions,
): Promise<ModelResponse> {
  const entry = script.calls[request.turn - 1];
  const failures = (entry?.failures ?? []).flatMap((failure) => Array.from({ length: failure.times }, () => failure));
  const failure = failures[request.tryNumber - 1];
  if (failure !== undefined) throw new PortError(toEndpointFailure(toAnswer(failure), ENDPOINT));
  const turn = entry?.turn;
  if (turn === undefined) throw exhausted(script.turnCount, `turn ${String(request.turn)}`, 'turns');
  if (turn.expect !== undefined) expectResults(request.turn, turn.expect.lastResults, request.messages);
  const content = toContent(turn, request.turn);
  checkAnswerSize(content);
  await stream(content, turn.delayMs, call);
  const hasCalls = content.some((block) => block.type === 'tool_use');
  return {
    content,
    stopReason: turn.stop ?? (hasCalls ? 'tool_use' : 'end_turn'),
    usage: turn.usage ?? estimateUsage(body, content),
    model: request.model,
  };
}

function playSummary(script: Script, number: number, request: ModelRequest, body: WireRequest): ModelResponse {
  const text = script.summaries[number - 1];
  if (text === undefined) throw exhausted(script.summaries.length, `summary ${String(number)}`, 'summaries');
  const content: AssistantBlock[] = [{ type: 'text', text }];
  return { content, stopReason: 'end_turn', usage: estimateUsage(body, content), model: request.model };
}

function toContent(turn: ScriptTurn, number: number): AssistantBlock[] {
  // Whatever a block has beside the known fields is what an endpoint wanted back with it.
  if (turn.content !== undefined) return turn.content.map((block) => toAssistantBlock(block, Object.keys(block)));
  const text: AssistantBlock[] = turn.text === undefined ? [] : [{ type: 'text', text: turn.text }];
  const calls = (turn.calls ?? []).map((call, index): AssistantBlock => ({
    type: 'tool_use',
    id: call.id ?? `toolu_${String(number)}_${String(index + 1)}`,
    name: call.name,
    input: call.input,
  }));
  return [...text, ...calls];
}

function toAnswer({ times: _, ...answer }: Script['calls'][number]['failures'][number]) {
  return {
    ...(answer.status === undefined ? {} : { status: answer.status }),
    ...(answer.type === undefined ? {} : { type: answer.type }),
    ...(answer.message === undefined ? {} : { message: answer.message }),
    ...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
  };
}

/** Reports the text in a few pieces, spread over the delay, as a streaming endpoint would. */
async function stream(content: readonly AssistantBlock[], delayMs: number, call: ModelCallOptions): Promise<void> {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / CHUNKS));
  for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
    if (delayMs > 0) await abortableSleep(delayMs / CHUNKS, call.signal);
    const piece = characters.slice(chunk * size, (chunk + 1) * size).join('');
    if (piece !== '') call.onProgress({ text: piece });
  }
}

/** Deterministic, so that a demo and a test show tokens: four characters are one. */
function estimateUsage(body: WireRequest, content: readonly AssistantBlock[]): Usage {
  const toTokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN);
  return { input: toTokens(body), output: toTokens(content), cacheRead: 0, cacheWrite: 0 };
}

function exhausted(has: number, asked: string, list: string): PortError {
  return new PortError({
    class: 'script_exhausted',
    retryable: false,
    detail: `The script has ${String(has)} ${list} and ${asked} was asked for. Add an entry to \`${list}\`, or end the conversation earlier.`,
  });
}

/** Parsing half a megabyte of YAML on every turn is slow; a worker plays a few scripts at a time. */
function createScriptReader(): (source: string) => Script {
  const cache = new Map<string, Script>();
  return (source) => {
    const known = cache.get(source);
    const script = known ?? parseScript(source);
    cache.delete(source);
    cache.set(source, script);
    for (const oldest of cache.keys()) {
      if (cache.size <= MAX_CACHED_SCRIPTS) break;
      cache.delete(oldest);
    }
    return script;
  };
}
