import { CONVERSATION_VERSION, type Conversation } from './conversation';

/** A value that some build wrote: its version, and the rest as that version had it. */
interface Written {
  readonly v: number;
}

/** What turns the value of version `v` (the key) into that of `v + 1`. */
const STEPS: Readonly<Record<number, (value: Written) => Written>> = {
  // Version 1 was never carried by a chat, and a task holds its workspace from its preparation to its end.
  1: (value) => ({ ...value, v: 2, holdsWorkspace: 'facts' in value && value.facts !== null, stopped: false }),
};

/**
 * The conversation as this build knows it, from what an earlier build carried over.
 * @throws Error for a version from the future: an older worker must not go on with what it does not understand.
 */
export function migrate(carried: unknown): Conversation {
  let value = carried as Written;
  for (let step = STEPS[value.v]; value.v < CONVERSATION_VERSION && step !== undefined; step = STEPS[value.v]) {
    value = step(value);
  }
  if (value.v === CONVERSATION_VERSION) return value as Conversation;
  throw new Error(`this build cannot read a conversation of version ${String(value.v)}`);
}
