import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxState } from '../../src/contract/activity';
import type { PermissionSetting } from '../../src/contract/run-input';
import { digestText } from '../../src/permissions/digest-text';
import { verdict } from '../../src/permissions/verdict';
import { BUILTIN_TOOLS } from '../../src/tools/builtin-tools';
import { createExecutor } from '../../src/tools/executor';
import type { Executor, ToolOutcome } from '../../src/tools/executor';
import { createToolRegistry } from '../../src/tools/registry';
import { createCommandRunner } from '../../src/workspace/command-runner';
import type { InspectableRunner } from '../../src/workspace/command-runner';
import { createWorkspaceFiles } from '../../src/workspace/files';
import { protectionOf } from '../../src/workspace/protected-path';
import { createSeenFiles } from '../../src/workspace/seen-files';
import { findRipgrep } from '../../src/workspace/ripgrep';
import { createTextSearch } from '../../src/workspace/text-search';
import { findBwrap } from '../support/bwrap';

export interface ToolBench {
  /** The workspace and a sibling outside of it. */
  readonly workspace: string;
  readonly outside: string;
  readonly state: string;
  readonly runner: InspectableRunner;
  readonly executor: Executor;
  /** Runs a call through the real tool path. */
  call(
    name: string,
    input: unknown,
    options?: { readonly signal?: AbortSignal; readonly maxBytes?: number },
  ): Promise<ToolOutcome>;
  /** A shell in the workspace, outside of any sandbox: sets up what a row describes. */
  sh(script: string): string;
  put(path: string, content: string | Uint8Array): void;
  bytes(path: string): Buffer;
  close(): void;
}

const STRICT: SandboxState = { mode: 'strict', detail: 'test' };

/** Tools, permission and sandbox put together as in a worker, in a workspace of its own. */
export function createToolBench(
  options: {
    readonly permission?: PermissionSetting;
    readonly sandbox?: 'strict' | 'off';
    /** Commands see `network` of the state directory, where a proxy may be. */
    readonly network?: boolean;
  } = {},
): ToolBench {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'surehand-tools-')));
  const [workspace, outside, state] = ['work', 'outside', 'state'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  [workspace, outside, state].forEach((directory) => mkdirSync(directory));
  const files = createWorkspaceFiles(workspace);
  const strict = options.sandbox !== 'off';
  if (options.network === true) mkdirSync(join(state, 'network'));
  const network = options.network === true ? { network: ['ok.test'] } : {};
  const sandbox = strict ? { ...STRICT, ...network } : ({ mode: 'off', detail: 'test' } as const);
  const runner = createCommandRunner({
    stateDirectory: state,
    workspace,
    sandbox: strict ? { mode: 'strict', bwrapPath: findBwrap() } : { mode: 'off' },
    nodePath: process.execPath,
    ...(options.network === true ? { networkDirectory: join(state, 'network') } : {}),
  });
  const permission = options.permission ?? { mode: 'auto', unattended: false };
  const executor = createExecutor({
    registry: createToolRegistry(BUILTIN_TOOLS),
    world: {
      files,
      seen: createSeenFiles({ stateDirectory: state, workflowId: 'bench', runId: 'run' }),
      commands: runner,
      search: createTextSearch({
        files,
        ripgrepPath: findRipgrep(),
        ...(strict ? { bwrapPath: findBwrap() } : {}),
      }),
      sandbox,
    },
    permit: ({ tool, effect, runsCommands, writes }) => {
      const levels = writes.map(protectionOf);
      const protectedWrite = levels.includes('refused') ? 'refused' : levels.includes('asks') ? 'asks' : 'none';
      return verdict({ permission, sandbox, tool, effect, runsCommands, protectedWrite });
    },
    digest: (tool, input) => {
      return `v1:${createHash('sha256')
        .update(digestText({ tool, input, directory: workspace }))
        .digest('hex')}`;
    },
    callKey: (callId) => `bench\n${callId}`,
    retryDelayMs: 1,
  });
  let calls = 0;
  return {
    workspace,
    outside,
    state,
    runner,
    executor,
    call: async (name, input, given = {}) => {
      calls += 1;
      const signal = given.signal ?? new AbortController().signal;
      const callOptions = { signal, maxBytes: given.maxBytes ?? 30_000, onProgress: () => undefined };
      return await executor.execute({ callId: `m-${calls}`, name, input }, callOptions);
    },
    sh: (script) => execFileSync('/bin/bash', ['-c', script], { cwd: workspace, encoding: 'utf8' }),
    put: (path, content) => {
      writeFileSync(join(workspace, path), content);
    },
    bytes: (path) => readFileSync(join(workspace, path)),
    close: () => {
      rmSync(base, { recursive: true, force: true });
    },
  };
}
