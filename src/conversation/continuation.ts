import type { RunInput } from '../contract/run-input';
import type { Conversation } from './conversation';
import { jsonBytes } from './json-size';

/** Temporal refuses a payload of 2 MiB; a window that is too large to be carried stays in its run. */
const MAX_CARRIED_BYTES = 1_900_000;

export interface RunLength {
  /** Temporal suggests to continue as new. */
  readonly suggested: boolean;
  /** Turns of the conversation when this run began. */
  readonly turnsAtStart: number;
}

/** Whether the conversation goes on in a new run of its chain. Ask at a quiet point only: no activity in flight. */
export function mustContinue(conversation: Conversation, input: RunInput, length: RunLength): boolean {
  const { turnsPerRun } = input.limits;
  const turns = conversation.turn - length.turnsAtStart;
  if (!length.suggested && (turnsPerRun === undefined || turns < turnsPerRun)) return false;
  return jsonBytes(conversation) <= MAX_CARRIED_BYTES;
}
