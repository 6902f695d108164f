import { readFileSync, readdirSync } from 'node:fs';

/** What tells a process from a later one that got the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** Clock ticks after boot: field 22 of `/proc/PID/stat`. */
  readonly startTime: string;
}

export interface ProcessEntry extends ProcessMark {
  readonly parent: number;
  readonly group: number;
  /** Dead, and only waiting to be collected by its parent. */
  readonly zombie: boolean;
}

/** The process's entry, or undefined when there is none. Fields are counted after the last `)`: names may hold any text. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readProc(pid, 'stat');
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  const startTime = fields[19];
  if (startTime === undefined) return undefined;
  return { pid, parent: Number(parent), group: Number(group), startTime, zombie: state === 'Z' || state === 'X' };
}

/** Whether exactly this process still runs; a zombie does not. */
export function isAlive(mark: ProcessMark): boolean {
  const entry = readProcess(mark.pid);
  return entry !== undefined && entry.startTime === mark.startTime && !entry.zombie;
}

/** The mark of this very process. */
export function ownMark(): ProcessMark {
  return { pid: process.pid, startTime: readProcess(process.pid)?.startTime ?? '' };
}

/** Living processes with this variable in their environment, or in bwrap's arguments that set it, as far as we may look. */
export function findMarked(name: string, value: string): readonly ProcessEntry[] {
  const assignment = `${name}=${value}\0`;
  const argument = `--setenv\0${name}\0${value}\0`;
  return findProcesses(
    (pid) =>
      readProc(pid, 'environ')?.includes(assignment) === true || readProc(pid, 'cmdline')?.includes(argument) === true,
  );
}

function findProcesses(isWanted: (pid: number) => boolean): readonly ProcessEntry[] {
  const found: ProcessEntry[] = [];
  for (const directory of readdirSync('/proc')) {
    const pid = Number(directory);
    if (!Number.isInteger(pid) || pid === process.pid || !isWanted(pid)) continue;
    const entry = readProcess(pid);
    if (entry !== undefined && !entry.zombie) found.push(entry);
  }
  return found;
}

/** Living processes with these arguments in a row; the second need only begin so. */
export function findWithArguments(first: string, second: string): readonly ProcessEntry[] {
  const wanted = `\0${Buffer.from(`${first}\0${second}`).toString('latin1')}`;
  return findProcesses((pid) => readProc(pid, 'cmdline')?.includes(wanted) === true);
}

/** Sends SIGKILL if exactly this process is still there. */
export function killExactly(mark: ProcessMark): void {
  if (isAlive(mark)) signal(mark.pid, 'SIGKILL');
}

/** Sends a signal to a process, or to a group by its negative id; one that is gone is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already, or not ours.
  }
}

function readProc(pid: number, file: 'stat' | 'cmdline' | 'environ'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}
