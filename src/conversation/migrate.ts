import { CONVERSATION_VERSION, type Conversation } from './conversation';
import { jsonBytes } from './json-size';

/** A value that some build wrote: its version, and the rest as that version had it. */
interface Written {
  readonly v: number;
}

/** Version 1 knew no chats, no summaries and no plans; a task held its workspace from its preparation to its end. */
type Version1 = Written & Pick<Conversation, 'facts' | 'window'>;

/** What turns the value of version `v` (the key) into that of `v + 1`. */
const STEPS: Readonly<Record<number, (value: Written) => Written>> = {
  1: (value) => {
    const { facts, window } = value as Version1;
    return {
      ...value,
      v: 2,
      holdsWorkspace: facts !== null,
      stopped: false,
      windowBytes: jsonBytes(window),
      contextTokens: 0,
      overflow: false,
      triesBefore: 0,
      compactions: { count: 0, inARow: 0 },
      said: [],
      todos: [],
      structured: null,
      outputTries: 0,
    };
  },
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
