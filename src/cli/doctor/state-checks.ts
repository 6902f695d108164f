import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { stateUsage } from '../../server/state-usage';
import { formatBytes, formatCount } from '../format';
import { check } from './check';
import type { Check, Finding } from './check';

/** Magic numbers of statfs(2). */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0xef53: 'ext',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x2fc12fc1: 'zfs',
  0xf2f52010: 'f2fs',
  0xca451a4e: 'bcachefs',
  0x794c7630: 'overlay',
  0x01021994: 'tmpfs',
  0x858458f6: 'ramfs',
  0x6969: 'nfs',
  0x517b: 'smb',
  0xff534d42: 'cifs',
  0xfe534d42: 'smb2',
  0x65735546: 'fuse',
  0x01021997: '9p',
  0x00c36400: 'ceph',
  0x5346414f: 'afs',
  0x0bd00bd0: 'lustre',
  0x47504653: 'gpfs',
  0x786f4256: 'vboxsf',
  0x6a656a63: 'virtiofs or fuse',
};
const NETWORK = new Set(['nfs', 'smb', 'cifs', 'smb2', '9p', 'ceph', 'afs', 'lustre', 'gpfs', 'vboxsf', 'fuse']);
const MEMORY = new Set(['tmpfs', 'ramfs']);

/** Below the first a person should look; below the second a run cannot go on for long. */
const SPACE = { warnBytes: 2 * 1024 ** 3, failBytes: 200 * 1024 ** 2 };

const WHY_FILES = 'The journal there proves what was started; locks and syncs must be those of a local disk.';

/** The state directory can be used, and lies on a disk that keeps its promises. Creates nothing. */
export function checkStateDirectory(
  home: string,
  kindOf: (directory: string) => number = fileSystemOf,
): Promise<Check> {
  return check({
    id: 'state-directory',
    why: WHY_FILES,
    look: () => {
      const directory = existingPart(home);
      const problem = whyUnusable(directory);
      if (problem !== undefined) {
        return {
          state: 'fail',
          detail: `${home} cannot be used: ${problem}`,
          mend: 'Make it a directory that this user can write to, or set SUREHAND_HOME to another one.',
        };
      }
      return judgeFileSystem(home, { code: kindOf(directory), isThere: directory === home });
    },
  });
}

function judgeFileSystem(
  home: string,
  { code, isThere }: { readonly code: number; readonly isThere: boolean },
): Finding {
  const kind = FILE_SYSTEMS[code] ?? `file system ${code.toString(16)}`;
  const where = `${home} (${kind})${isThere ? '' : ', not made yet'}`;
  if (NETWORK.has(kind)) {
    return {
      state: 'warn',
      detail: `${where} may lie on another machine: a lock there may not hold, a sync may not reach a disk`,
      mend: 'Set SUREHAND_HOME to a directory on a local disk; two machines must never share one.',
    };
  }
  if (MEMORY.has(kind)) {
    return {
      state: 'warn',
      detail: `${where} lies in memory: history and journal are gone after a restart of the machine`,
      mend: 'Set SUREHAND_HOME to a directory on a disk.',
    };
  }
  return { state: 'ok', detail: where };
}

/** @param limits for tests. */
export function checkSpace(home: string, limits = SPACE): Promise<Check> {
  return check({
    id: 'disk-space',
    why: 'Without space no change is started, since its journal entry could not be written, and the server stops.',
    look: () => {
      const { bavail, bsize, ffree, files } = statfsSync(existingPart(home));
      const free = bavail * bsize;
      const detail = `${formatBytes(free)} free for ${home}`;
      const mend = 'Free some space, or set SUREHAND_HOME to a larger disk.';
      // File systems without a fixed number of files say 0.
      if (files > 0 && ffree === 0) return { state: 'fail', detail: `no more files can be made for ${home}`, mend };
      if (free < limits.failBytes) return { state: 'fail', detail, mend };
      return free < limits.warnBytes ? { state: 'warn', detail, mend } : { state: 'ok', detail };
    },
  });
}

/** What takes how much; a report, with nothing to mend. */
export function checkUsage(home: string): Promise<Check> {
  return check({
    id: 'state-usage',
    why: 'It grows with each run; what belongs to no run any more can be removed.',
    look: async () => {
      const parts = await stateUsage(home);
      const shown = parts.map(
        ({ part, bytes, files }) =>
          `${part} ${formatBytes(bytes)} in ${formatCount(files)} ${files === 1 ? 'file' : 'files'}`,
      );
      return { state: 'ok', detail: shown.length === 0 ? 'nothing yet' : shown.join(' · ') };
    },
  });
}

/** The directory itself, or what of its path is there. */
function existingPart(home: string): string {
  for (let directory = home; ; directory = path.dirname(directory)) {
    if (existsSync(directory) || directory === path.dirname(directory)) return directory;
  }
}

function whyUnusable(directory: string): string | undefined {
  try {
    if (!statSync(directory).isDirectory()) return `${directory} is not a directory`;
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return `${directory} cannot be written (${code})`;
  }
}

function fileSystemOf(directory: string): number {
  return statfsSync(directory).type;
}
