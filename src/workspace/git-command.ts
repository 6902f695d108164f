import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InspectableRunner } from './command-runner';

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;

/**
 * A repository's configuration may name programs that git runs. No set of options switches them all off, so git runs in
 * the sandbox, on a read-only workspace; the options keep it quiet and quick.
 */
const PREAMBLE = [
  'export GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_NOSYSTEM=1',
  `git() { command git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.untrackedCache=false -c safe.directory='*' "$@" 2>/dev/null; }`,
].join('\n');

/**
 * Runs a script of our own that uses git, in the strict sandbox, which the caller has made sure of.
 * @returns its output; `undefined` if it failed, took too long or said too much.
 */
export async function runGit(
  runner: InspectableRunner,
  script: string,
  options: { readonly timeoutMs?: number } = {},
): Promise<string | undefined> {
  const command = await runner.start({
    callId: `git-${randomUUID()}`,
    command: `${PREAMBLE}\n${script}`,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    readOnly: true,
  });
  try {
    let state = await runner.poll(command);
    for (let waitMs = 2; state.running; waitMs = Math.min(50, waitMs * 2)) {
      await sleep(waitMs);
      state = await runner.poll(command);
    }
    if (state.end !== 'exited' || state.exitCode !== 0) return undefined;
    const { head, omittedBytes } = await runner.output(command, { headBytes: MAX_OUTPUT_BYTES, tailBytes: 0 });
    return omittedBytes === 0 ? head : undefined;
  } finally {
    await runner.discard(command);
  }
}
