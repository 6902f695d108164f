import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonAddress, EnsureDaemonOptions } from '../../src/server/daemon-client';
import { ensureDaemon, stopDaemon } from '../../src/server/daemon-client';
import { readDaemonRecord } from '../../src/server/daemon-record';
import type { DaemonRecord } from '../../src/server/daemon-record';
import type { ProcessIdentity } from '../../src/server/process-identity';
import { identify, isAlive } from '../../src/server/process-identity';
import { stateFiles } from '../../src/server/state-directory';
import { buildDaemon } from './built-server';

/** Waits for a condition; fails with its description when it does not come. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 15_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`did not happen within ${timeoutMs} ms: ${what}`);
    await sleep(25);
  }
}

export interface DaemonBench {
  readonly home: string;
  /** A further directory that is removed at the end. */
  readonly scratch: string;
  ensure(change?: Partial<EnsureDaemonOptions>): Promise<DaemonAddress>;
  /** The lines that `ensure` told about. */
  readonly progress: string[];
  record(): DaemonRecord;
  server(): ProcessIdentity;
  worker(): ProcessIdentity;
  /** Writes a worker script; it gets `ready()` and the module `fs`. Answers its path. */
  workerScript(body: string): string;
  log(name: 'daemon' | 'server' | 'worker'): string;
  tearDown(): Promise<void>;
}

const GOOD_WORKER = 'ready(); setInterval(() => {}, 1000);';

/** A state directory of its own with a real daemon, a real server and a worker script. */
export function createDaemonBench(): DaemonBench {
  const scratch = mkdtempSync(path.join(tmpdir(), 'surehand-daemon-'));
  const home = path.join(scratch, 'home');
  const daemonEntry = buildDaemon(path.join(scratch, 'built'));
  const progress: string[] = [];
  const record = (): DaemonRecord => {
    const found = readDaemonRecord(stateFiles(home));
    if (found === undefined) throw new Error('no daemon.json');
    return found;
  };
  const workerScript = (body: string): string => {
    const file = path.join(scratch, 'worker.js');
    writeFileSync(
      file,
      `const fs = require('node:fs');
      const ready = () => process.send({ type: 'ready', hostId: 'h', identity: 'i' });
      process.on('disconnect', () => process.exit());
      process.on('SIGTERM', () => process.exit());
      ${body}`,
    );
    return file;
  };
  const workerEntry = workerScript(GOOD_WORKER);
  return {
    home,
    scratch,
    progress,
    record,
    workerScript,
    ensure: (change = {}) =>
      ensureDaemon(
        {
          home,
          build: 'build-1',
          configDigest: 'config-1',
          restartOnConfigChange: true,
          env: definedOnly(process.env),
          fast: true,
          timeoutMs: 30_000,
          daemonEntry,
          workerEntry,
          ...change,
        },
        (line) => progress.push(line),
      ),
    server: () => identity(record().serverPid, record().serverStartTime),
    worker: () => identity(record().workerPid, record().workerStartTime),
    log: (name) => readFileSync(path.join(home, 'logs', `${name}.${name === 'daemon' ? 'jsonl' : 'log'}`), 'utf8'),
    tearDown: async () => {
      await stopDaemon(home);
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** Kills like `kill -9` and waits until the process is gone. */
export async function killNine(process_: ProcessIdentity): Promise<void> {
  process.kill(process_.pid, 'SIGKILL');
  await until(`${process_.pid} is gone`, () => !isAlive(process_));
}

/** The identity of a live process. */
export function alive(pid: number): ProcessIdentity {
  const found = identify(pid);
  if (found === undefined) throw new Error(`no process ${pid}`);
  return found;
}

function identity(pid: number | undefined, startTime: string | undefined): ProcessIdentity {
  if (pid === undefined || startTime === undefined) throw new Error('not in daemon.json');
  return { pid, startTime };
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Jest's matchers for texts, typed. */
export function matching(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}

export function containing(text: string): unknown {
  return expect.stringContaining(text);
}
