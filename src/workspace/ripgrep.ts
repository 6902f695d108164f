import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { WorkspaceError } from './ports';
import { signal as sendSignal } from './process-table';
import { DEFAULT_LIMITS, sandboxArgv } from './sandbox-profile';

/** Path of the ripgrep binary that came with the npm package. Its own module is ESM and is not loaded. */
export function findRipgrep(): string {
  const manifest = require.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/package.json`);
  return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'rg.exe' : 'rg');
}

const HOST_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

export interface RipgrepRun {
  readonly binary: string;
  /** The workspace: ripgrep's globs are anchored where it runs. */
  readonly cwd: string;
  readonly options: readonly string[];
  /** What to search, relative to `cwd`. */
  readonly path: string;
  readonly separator: 'line' | 'nul';
  /** Runs it in the sandbox, so that a directory that becomes a link while it walks leads nowhere. */
  readonly bwrapPath?: string;
  readonly timeoutMs: number;
}

/** Options from us only: no configuration file, no environment, no ignore files from outside the workspace. */
const FIXED_ARGS = [
  ...['--no-config', '--color=never', '--no-follow', '--hidden', '--no-require-git'],
  ...['--no-ignore-global', '--no-ignore-parent', '--sort=path'],
];
/** Last of all globs, so that no pattern can bring it back. */
const NOT_GIT = ['--glob', '!.git'];

/**
 * Streams ripgrep's records to `onRecord`, which may answer `stop`. Resolves with why the answer may be incomplete.
 * @throws WorkspaceError for a pattern that ripgrep refuses, and the signal's reason when it aborts.
 */
export async function runRipgrep(
  run: RipgrepRun,
  onRecord: (record: string) => 'stop' | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  signal.throwIfAborted();
  const [program = '', ...argv] = confined(run, [...FIXED_ARGS, ...run.options, ...NOT_GIT, '--', run.path]);
  const child = spawn(program, argv, {
    cwd: run.cwd,
    env: run.bwrapPath === undefined ? {} : { PATH: HOST_PATH },
    // The fourth is where the sandbox reports.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = child;
  const report = child.stdio[3];
  if (stdout === null || stderr === null || !(report instanceof Readable)) throw new Error('a pipe is missing');
  const status = collect(report, 4096);
  const end: { why?: 'deadline' | 'enough' | 'aborted' } = {};
  const kill = (why: 'deadline' | 'enough' | 'aborted'): void => {
    end.why ??= why;
    if (run.bwrapPath === undefined) child.kill('SIGKILL');
    else killSandbox(child, report, status);
  };
  const onAbort = (): void => {
    kill('aborted');
  };
  const timer = setTimeout(() => {
    kill('deadline');
  }, run.timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    let records = 0;
    const closed = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const errors = collect(stderr, 4096);
    const take = (record: string): void => {
      if (end.why !== undefined) return;
      records += 1;
      if (onRecord(record) === 'stop') kill('enough');
    };
    if (run.separator === 'line') createInterface({ input: stdout, crlfDelay: Infinity }).on('line', take);
    else splitNul(stdout, take);
    const code = await closed;
    signal.throwIfAborted();
    if (end.why === 'deadline') return `the search was stopped after ${run.timeoutMs / 1000} s`;
    if (end.why === 'enough') return undefined;
    // Without its report a failure to set up the sandbox would look like "no match".
    const ran = run.bwrapPath === undefined || status().includes('"exit-code"');
    return judgeEnd({
      code,
      found: ran && (code === 0 || code === 1),
      hasRecords: records > 0,
      message: errors().trim(),
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** How long a sandbox may take to report its first process. */
const REPORT_MS = 1_000;

/** The namespace's init first: killing the outer process while it still sets up would leave the inner one behind. */
function killSandbox(child: ChildProcess, report: Readable, status: () => string): void {
  const init = /"child-pid": (\d+)/u.exec(status())?.[1];
  if (init === undefined) {
    const timer = setTimeout(() => child.kill('SIGKILL'), REPORT_MS);
    report.once('data', () => {
      clearTimeout(timer);
      killSandbox(child, report, status);
    });
    return;
  }
  // While the outer process lives, it has not waited for the inner one, whose number is nobody else's.
  if (child.exitCode === null && child.signalCode === null) sendSignal(Number(init), 'SIGKILL');
  child.kill('SIGKILL');
}

/** Why the answer may be incomplete. @throws WorkspaceError when there is none. */
function judgeEnd(end: {
  readonly code: number | null;
  readonly found: boolean;
  readonly hasRecords: boolean;
  readonly message: string;
}): string | undefined {
  if (end.found) return undefined;
  if (!end.hasRecords)
    throw new WorkspaceError(`The search failed: ${end.message || `ripgrep ended with ${end.code}`}`);
  return end.message.split('\n')[0] ?? '';
}

function confined({ binary, bwrapPath, cwd }: RipgrepRun, argv: readonly string[]): readonly string[] {
  const command = [binary, ...argv];
  if (bwrapPath === undefined) return command;
  const spec = {
    ...{ bwrapPath, workspace: cwd, readOnly: true, cwd, environment: {}, limits: DEFAULT_LIMITS },
    ...{ git: { directories: [], pinned: [] }, toolchains: [binary] },
  };
  return sandboxArgv(spec, command);
}

function collect(stream: NodeJS.ReadableStream, maxBytes: number): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    if (text.length < maxBytes) text += chunk.toString('utf8');
  });
  return () => text.slice(0, maxBytes);
}

function splitNul(stream: NodeJS.ReadableStream, take: (record: string) => void): void {
  let rest = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf(0); at !== -1; at = rest.indexOf(0)) {
      take(rest.subarray(0, at).toString('utf8'));
      rest = rest.subarray(at + 1);
    }
  });
}
