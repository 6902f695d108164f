import { existsSync } from 'node:fs';
import os from 'node:os';
import type { Config } from '../../config';
import { findBwrap } from '../../server/tool-paths';
import { probeSandbox } from '../../workspace/sandbox-probe';
import type { ProbeResult } from '../../workspace/sandbox-probe';
import { commandToolchains } from '../../workspace/toolchain';
import type { Toolchain } from '../../workspace/toolchain';
import { visibleText } from '../visible-text';
import { check } from './check';
import type { Check, Finding } from './check';

const WHY = 'Commands of the agent run in it; where it does not hold they are refused.';
const PROBE_MS = 8_000;
const IN_A_CONTAINER =
  'In a container it needs the options seccomp=unconfined and systempaths=unconfined; on Ubuntu 24.04 use /usr/bin/bwrap.';

/**
 * Tries the profile of this host as its worker would: one check for the whole, and one for each property if it could be
 * set up at all.
 */
export async function checkSandbox(config: Pick<Config, 'worker' | 'env' | 'home'>): Promise<Check[]> {
  if (config.worker.sandbox === 'off') {
    const mend = 'Unset SUREHAND_SANDBOX and the setting worker.sandbox, unless this machine is itself the sandbox.';
    return [await whole({ state: 'warn', detail: 'switched off: commands run without a sandbox', mend })];
  }
  let probe: ProbeResult | undefined;
  const summary = await check({
    id: 'sandbox',
    why: WHY,
    timeoutMs: PROBE_MS,
    look: async () => {
      const bwrapPath = config.worker.bwrapPath ?? (await findBwrap(config.env));
      if (bwrapPath === undefined) {
        const mend = 'Fetch it: npm run setup, or install bubblewrap 0.8 or later.';
        return { state: 'fail', detail: 'bwrap is not installed', mend };
      }
      // What the state directory's own place is does not matter here, and doctor creates none.
      const scratchDirectory = existsSync(config.home) ? config.home : os.tmpdir();
      const toolchains = findToolchains(config);
      if (typeof toolchains === 'string')
        return { state: 'fail', detail: toolchains, mend: 'Correct worker.toolchains.' };
      probe = await probeSandbox({ bwrapPath, nodePath: process.execPath, scratchDirectory, toolchains });
      const names = toolchains.map(({ name }) => name).join(', ');
      return judge(probe, `${bwrapPath}${names === '' ? '' : ` · toolchains: ${names}`}`);
    },
  });
  const properties = (probe?.checks ?? []).map(({ name, property, holds }) =>
    check({
      id: `sandbox:${name}`,
      why: WHY,
      look: (): Finding =>
        holds
          ? { state: 'ok', detail: property }
          : { state: 'fail', detail: `does not hold: ${property}`, mend: IN_A_CONTAINER },
    }),
  );
  return [summary, ...(await Promise.all(properties))];
}

/** Those that commands get beside the system's own; a text says why they cannot be had. */
function findToolchains({ worker, env, home }: Pick<Config, 'worker' | 'env' | 'home'>): readonly Toolchain[] | string {
  try {
    return commandToolchains({ listed: worker.toolchains, path: env['PATH'] ?? '', forbidden: [home, os.homedir()] });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function judge(probe: ProbeResult, programs: string): Finding {
  const detail = `${visibleText(probe.detail)} · ${programs}`;
  return probe.mode === 'strict' ? { state: 'ok', detail } : { state: 'fail', detail, mend: IN_A_CONTAINER };
}

function whole(finding: Finding): Promise<Check> {
  return check({ id: 'sandbox', why: WHY, look: () => finding });
}
