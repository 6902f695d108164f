import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { WorkspaceError } from './ports';

/** Path of the ripgrep binary that came with the npm package. Its own module is ESM and is not loaded. */
export function findRipgrep(): string {
  const manifest = require.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/package.json`);
  return join(dirname(manifest), 'bin', process.platform === 'win32' ? 'rg.exe' : 'rg');
}

export interface RipgrepRun {
  readonly binary: string;
  /** The workspace: ripgrep's globs are anchored where it runs. */
  readonly cwd: string;
  readonly options: readonly string[];
  /** What to search, relative to `cwd`. */
  readonly path: string;
  readonly separator: 'line' | 'nul';
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
  const child = spawn(run.binary, [...FIXED_ARGS, ...run.options, ...NOT_GIT, '--', run.path], {
    cwd: run.cwd,
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end: { why?: 'deadline' | 'enough' | 'aborted' } = {};
  const kill = (why: 'deadline' | 'enough' | 'aborted'): void => {
    end.why ??= why;
    child.kill('SIGKILL');
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
    const errors = collect(child.stderr, 4096);
    const take = (record: string): void => {
      if (end.why !== undefined) return;
      records += 1;
      if (onRecord(record) === 'stop') kill('enough');
    };
    if (run.separator === 'line') createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', take);
    else splitNul(child.stdout, take);
    const code = await closed;
    signal.throwIfAborted();
    if (end.why === 'deadline') return `the search was stopped after ${run.timeoutMs / 1000} s`;
    if (end.why === 'enough' || code === 0 || code === 1) return undefined;
    const message = errors().trim();
    if (records === 0) throw new WorkspaceError(`The search failed: ${message || `ripgrep ended with ${code}`}`);
    return message.split('\n')[0] ?? '';
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    child.kill('SIGKILL');
  }
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
