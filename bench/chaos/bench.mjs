/** The product under test: the real program with a state directory of its own. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const CLIENT = path.resolve(import.meta.dirname, '../../dist/client.js');

export function createBench() {
  const root = mkdtempSync(path.join(os.tmpdir(), 'surehand-chaos-'));
  const home = path.join(root, 'home');
  const settings = path.join(root, 'settings.json');
  // Every timeout as a user has it: recovery must not come from short heartbeats.
  writeFileSync(settings, JSON.stringify({ embedded: { fast: true } }));
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const env = { PATH, HOME, XDG_CACHE_HOME, SUREHAND_HOME: home, SUREHAND_SETTINGS: settings, SUREHAND_USER: 'chaos' };
  return { root, home, env };
}

/** Runs one command of the program to its end. */
export function surehand(bench, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [CLIENT, ...args], { env: bench.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => (stdout += text));
    child.stderr.on('data', (text) => (stderr += text));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Starts a conversation whose calls each append one line, their own name, to a ledger. */
export async function startConversation(bench, name, turns) {
  const workspace = path.join(bench.root, name);
  mkdirSync(workspace);
  const entries = Array.from({ length: turns }, (_, index) => `${name}-${index + 1}`);
  const script = path.join(bench.root, `${name}.yaml`);
  const calls = entries.map(
    (entry) => `  - calls: [{ name: bash, input: { command: "echo ${entry} >> ledger; sleep 0.3" } }]`,
  );
  writeFileSync(script, ['turns:', ...calls, '  - text: The end.', ''].join('\n'));
  const args = ['start', `chaos ${name}`, '--id', name, '--workspace', workspace, '--model', `scripted:${script}`];
  for (let tries = 0; tries < 10; tries += 1) {
    const { code } = await surehand(bench, args);
    if (code === 0) return { name, workspace, entries };
  }
  throw new Error(`the conversation ${name} could not be started`);
}

export function ledgerOf({ workspace }) {
  return readLines(path.join(workspace, 'ledger'));
}

/**
 * Sees commands begin, by the notes of their starts: a line in a ledger may come from a command that began long before.
 */
export function createStartWatch(bench) {
  const calls = path.join(bench.home, 'calls');
  const seen = new Map();
  const look = () => {
    for (const name of readDirectory(calls)) {
      if (seen.has(name)) continue;
      const note = readJson(path.join(calls, name, 'start.json'));
      if (note !== undefined)
        seen.set(name, { startedAtMs: note.startedAtMs, conversation: note.callId.split('\n')[0] });
    }
    return [...seen.values()];
  };
  return {
    /** When the first command began after `afterMs`, of one conversation or of any; undefined if none has yet. */
    firstAfter: (afterMs, conversation) => {
      const after = look().filter(
        (start) => start.startedAtMs > afterMs && (conversation ?? start.conversation) === start.conversation,
      );
      return after.length === 0 ? undefined : Math.min(...after.map(({ startedAtMs }) => startedAtMs));
    },
    countOf: (conversation) => look().filter((start) => start.conversation === conversation).length,
  };
}

/**
 * A process to kill: by the daemon's own record (a part that is just being started again has none), or any supervisor,
 * with the conversation whose command it runs.
 */
export function findVictim(bench, part) {
  if (part === 'supervisor') return anySupervisor(bench);
  const record = readJson(path.join(bench.home, 'daemon.json'));
  const pid = { daemon: record?.pid, worker: record?.workerPid, server: record?.serverPid }[part];
  return record?.state === 'ready' && isAlive(pid) ? { pid } : undefined;
}

function anySupervisor(bench) {
  const calls = path.join(bench.home, 'calls');
  for (const name of readDirectory(calls)) {
    const [line] = readLines(path.join(calls, name, 'supervisor'));
    const [pid, startTime] = (line ?? '').split(' ');
    if (startTime === undefined || startTimeOf(pid) !== startTime) continue;
    const note = readJson(path.join(calls, name, 'start.json'));
    return { pid: Number(pid), conversation: note?.callId.split('\n')[0] };
  }
  return undefined;
}

function startTimeOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

export function isAlive(pid) {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function readDirectory(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function readLines(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
