import { OUTCOME_OF_CLASS } from '../../src/contract/failure';
import * as names from '../../src/contract/names';
import { EXIT_CODES, EXIT_SIGTERM, EXIT_USAGE } from '../../src/contract/outcome';
import { BUILTIN_TOOLS } from '../../src/tools/builtin-tools';
import { createToolRegistry } from '../../src/tools/registry';

// Others rely on these names: scripts, alerts, schedules, saved searches. A red pin means: say it on purpose.

test('wire names of workflow, update, signal, queries, memo and failures → pinned', () => {
  expect(names).toEqual({
    TOOLS: { submit: 'submit_result', todo: 'todo_write' },
    WORKFLOW_TYPE: 'agentWorkflow',
    SEND_UPDATE: 'send',
    INBOX_SIGNAL: 'inbox',
    STATUS_QUERY: 'status',
    CONVERSATION_QUERY: 'conversation',
    SEARCH_ATTRIBUTES: {
      SurehandState: 'Keyword',
      SurehandHost: 'Keyword',
      SurehandRepo: 'Keyword',
      SurehandModel: 'Keyword',
      SurehandTurns: 'Int',
      SurehandCostUsd: 'Double',
    },
    MEMO: {
      inputDigest: 'surehandInput',
      task: 'surehandTask',
      result: 'surehandResult',
      tail: 'surehandTail',
      unread: 'surehandUnread',
    },
    FAILURE: {
      portFailure: 'PortFailure',
      workerLost: 'WorkerLost',
      needConfirm: 'NEED_CONFIRM',
      badMessage: 'BadMessage',
    },
  });
});

test('outcomes and their exit codes → pinned', () => {
  expect(EXIT_CODES).toEqual({
    done: 0,
    failed: 1,
    unauthenticated: 3,
    denied: 4,
    limit_reached: 5,
    unavailable: 6,
    context_exhausted: 7,
    cancelled: 130,
  });
  expect([EXIT_USAGE, EXIT_SIGTERM]).toEqual([2, 143]);
});

test('each failure class ends in an outcome that has an exit code', () => {
  expect(Object.values(OUTCOME_OF_CLASS).filter((outcome) => !(outcome in EXIT_CODES))).toEqual([]);
});

test('tools and their argument names → pinned', () => {
  const tools = createToolRegistry(BUILTIN_TOOLS).definitions();
  const shapes = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema['properties'] as object).sort()]);
  expect(Object.fromEntries(shapes)).toEqual({
    bash: ['background', 'command', 'cwd', 'read_only', 'timeout_s'],
    bash_kill: ['id'],
    bash_output: ['id', 'offset', 'wait_s'],
    edit_file: ['new_string', 'old_string', 'path', 'replace_all'],
    glob: ['path', 'pattern'],
    grep: ['glob', 'path', 'pattern'],
    list_files: ['path'],
    read_file: ['byte', 'limit', 'offset', 'path'],
    todo_write: ['todos'],
    write_file: ['content', 'path'],
  });
});
