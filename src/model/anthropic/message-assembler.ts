import type { AssistantBlock, Usage } from '../../contract/message';
import { toAssistantBlock } from '../assistant-block';
import { isRecord, recordAt, stringAt } from '../json-record';
import type { JsonRecord } from '../json-record';
import { toUsage } from '../usage';

export interface AssembledMessage {
  readonly content: readonly AssistantBlock[];
  readonly stopReason: string;
  readonly stopDetail?: string;
  readonly usage: Usage;
  readonly model?: string;
}

export interface MessageAssembler {
  /** Takes the next event; returns the text for people that it brought. */
  take(event: unknown): string;
  /** Characters received so far. */
  size(): number;
  /** The counters so far, as the endpoint sent them; `undefined` before it sent any. */
  spent(): Counted | undefined;
  /** The whole message, or `null` if the stream has not said how it stopped. */
  finish(): AssembledMessage | null;
}

interface OpenBlock {
  readonly fields: Record<string, unknown>;
  /** A tool's input arrives as pieces of JSON. */
  readonly inputJson: string[];
}

/**
 * Puts streamed events together. Written here rather than taken from the SDK, which completes a tool input that was cut
 * off in mid-JSON to something that looks whole; here such an input stays the text it is, so that no schema accepts it.
 */
export function createMessageAssembler(echoFields: readonly string[] = []): MessageAssembler {
  const blocks = new Map<number, OpenBlock>();
  let start: JsonRecord = {};
  let usage: JsonRecord = {};
  let stop: JsonRecord = {};
  let stopped = false;
  let received = 0;

  const startBlock = (event: JsonRecord) => {
    const fields = { ...recordAt(event, 'content_block') };
    received += JSON.stringify(fields).length;
    blocks.set(indexOf(event), { fields, inputJson: [] });
    return fields['type'] === 'text' ? (stringAt(fields, 'text') ?? '') : '';
  };
  const addDelta = (event: JsonRecord) => {
    const block = blocks.get(indexOf(event));
    const delta = recordAt(event, 'delta');
    if (block === undefined) return '';
    received += JSON.stringify(delta).length;
    return applyDelta(block, delta);
  };

  return {
    take(event) {
      if (!isRecord(event)) return '';
      switch (event['type']) {
        case 'message_start':
          start = recordAt(event, 'message');
          return '';
        case 'content_block_start':
          return startBlock(event);
        case 'content_block_delta':
          return addDelta(event);
        case 'message_delta':
          stop = { ...stop, ...recordAt(event, 'delta') };
          usage = { ...usage, ...withoutNulls(recordAt(event, 'usage')) };
          return '';
        case 'message_stop':
          stopped = true;
          return '';
        default:
          return '';
      }
    },
    size: () => received,
    spent: () => spentOf(start, usage),
    finish() {
      const stopReason = stringAt(stop, 'stop_reason');
      if (!stopped && stopReason === undefined) return null;
      const stopDetail = describeStop(recordAt(stop, 'stop_details'));
      return {
        content: [...blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => finishBlock(block, echoFields)),
        stopReason: stopReason ?? 'missing',
        ...(stopDetail === undefined ? {} : { stopDetail }),
        ...(spentOf(start, usage) ?? { usage: toUsage({}) }),
      };
    },
  };
}

type Counted = Pick<AssembledMessage, 'usage' | 'model'>;

/** What the message began with, and what was counted since. */
function spentOf(start: JsonRecord, usage: JsonRecord): Counted | undefined {
  const counted = { ...recordAt(start, 'usage'), ...usage };
  const model = stringAt(start, 'model');
  if (Object.keys(counted).length === 0 && model === undefined) return undefined;
  return { usage: toUsage(counted), ...(model === undefined ? {} : { model }) };
}

/** Each string of a delta continues the field of its name, also in blocks of a type we do not know. */
function applyDelta(block: OpenBlock, delta: JsonRecord): string {
  if (delta['type'] === 'input_json_delta') {
    block.inputJson.push(stringAt(delta, 'partial_json') ?? '');
    return '';
  }
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'type' || typeof value !== 'string') continue;
    block.fields[key] = (stringAt(block.fields, key) ?? '') + value;
  }
  return block.fields['type'] === 'text' ? (stringAt(delta, 'text') ?? '') : '';
}

function finishBlock({ fields, inputJson }: OpenBlock, echoFields: readonly string[]): AssistantBlock {
  const json = inputJson.join('');
  return toAssistantBlock(json.trim() === '' ? fields : { ...fields, input: parseInput(json) }, echoFields);
}

function parseInput(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return json;
  }
}

function indexOf(event: JsonRecord): number {
  return typeof event['index'] === 'number' ? event['index'] : 0;
}

function withoutNulls(record: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== undefined));
}

function describeStop(details: JsonRecord): string | undefined {
  return stringAt(details, 'explanation') ?? stringAt(details, 'category');
}
