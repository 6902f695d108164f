/** Wire names. Others rely on them (Temporal's UI, alerts, schedules, scripts): never rename one. */

export const WORKFLOW_TYPE = 'agentWorkflow';
export const SEND_UPDATE = 'send';
export const INBOX_SIGNAL = 'inbox';
export const STATUS_QUERY = 'status';
export const CONVERSATION_QUERY = 'conversation';

/** Search attributes with their Temporal type, as the server registers them. */
export const SEARCH_ATTRIBUTES = {
  SurehandState: 'Keyword',
  SurehandHost: 'Keyword',
  SurehandRepo: 'Keyword',
  SurehandModel: 'Keyword',
  SurehandTurns: 'Int',
  SurehandCostUsd: 'Double',
} as const;

export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;

/** Keys of the workflow's memo. */
export const MEMO = {
  /** Digest of the run's input: tells "the same task" from "another task under this id". */
  inputDigest: 'surehandInput',
  /** First line of the task: unlike the static summary it stays when the run continues as new. */
  task: 'surehandTask',
  result: 'surehandResult',
  tail: 'surehandTail',
  unread: 'surehandUnread',
} as const;

/** Tools whose calls are more to the conversation than their result. */
export const TOOLS = {
  /** Its input is the answer of a run with an output schema. */
  submit: 'submit_result',
  /** Its input is the model's plan. */
  todo: 'todo_write',
} as const;

/** Failure types (`ApplicationFailure.type`) that cross a process border besides the outcomes. */
export const FAILURE = {
  portFailure: 'PortFailure',
  workerLost: 'WorkerLost',
  needConfirm: 'NEED_CONFIRM',
  badMessage: 'BadMessage',
} as const;
