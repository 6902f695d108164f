/** Processes that a test suite started and did not end. */
import { readFileSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** What tests start names a directory of theirs in its arguments: servers, daemons, workers, sandboxes. */
const MARK = path.join(os.tmpdir(), 'surehand-');

/** Pid and command line of every process that names a temporary directory of surehand's. */
export function suiteProcesses() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => ({ pid: Number(pid), command: commandLine(pid) }))
    .filter(({ command }) => command.includes(MARK));
}

/** Those that are there now and were not before. */
export function leftovers(before) {
  const known = new Set(before.map(({ pid }) => pid));
  return suiteProcesses().filter(({ pid }) => !known.has(pid));
}

function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    // It ended meanwhile.
    return '';
  }
}
