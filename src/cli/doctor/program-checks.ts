import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Config } from '../../config';
import type { DaemonRecord } from '../../server/daemon-record';
import { findTemporal } from '../../server/tool-paths';
import { check } from './check';
import type { Check, Finding } from './check';

const LEAST_NODE = [20, 19] as const;
const VERSION_TIMEOUT_MS = 3_000;
const run = promisify(execFile);

/** @param version as in `process.versions.node`. */
export function checkNode(version: string): Promise<Check> {
  return check({
    id: 'node',
    why: 'surehand and Temporal’s SDK run on Node 20.19 or later.',
    look: () => {
      const [major = 0, minor = 0] = version.split('.').map(Number);
      const good = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
      return good
        ? { state: 'ok', detail: `Node ${version}` }
        : { state: 'fail', detail: `Node ${version} is too old`, mend: 'Install Node 20.19 or later.' };
    },
  });
}

/** The Temporal CLI, which is the local server. */
export function checkTemporalBinary({ temporal, env }: Pick<Config, 'temporal' | 'env'>): Promise<Check> {
  return check({
    id: 'temporal-binary',
    why: 'It is the local Temporal server; a configured one does without it.',
    look: async () => {
      if (temporal.mode === 'server') {
        return { state: 'ok', detail: `not needed: the server is ${temporal.target.address}` };
      }
      try {
        const file = await findTemporal(env);
        const { stdout } = await run(file, ['--version'], { timeout: VERSION_TIMEOUT_MS });
        return { state: 'ok', detail: `${stdout.trim().split('\n')[0] ?? ''} · ${file}` };
      } catch (error) {
        const detail = error instanceof Error ? error.message.split(' Fetch it')[0] : String(error);
        return { state: 'fail', detail: detail ?? '', mend: 'Fetch it: npm run setup' };
      }
    },
  });
}

/** Whether the daemon works and is of the build of this program. `undefined`: none lives. */
export function checkDaemon(
  record: DaemonRecord | undefined,
  { build, command }: { readonly build: string; readonly command: string },
): Promise<Check> {
  return check({
    id: 'daemon',
    why: 'The daemon keeps server and worker running, and both must be of the build that the commands are of.',
    look: (): Finding => {
      if (record === undefined) {
        return { state: 'ok', detail: `no daemon runs; build of this program: ${build}` };
      }
      const pid = `pid ${String(record.pid)}`;
      if (record.state === 'failed') {
        return {
          state: 'fail',
          detail: `the daemon (${pid}) has given up: ${record.problem ?? 'the worker cannot start'}`,
          mend: `Mend what it names; the next command that needs it starts it again. Stop it: ${command} down`,
        };
      }
      if (record.build !== build) {
        return {
          state: 'warn',
          detail: `the daemon (${pid}) is of build ${record.build}, this program of build ${build}`,
          mend: `Any command that needs it restarts it, and open runs go on. At once: ${command} down`,
        };
      }
      return { state: 'ok', detail: `${record.state} (${pid}), build ${build} like this program` };
    },
  });
}
