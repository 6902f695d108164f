import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import type { DaemonRecord } from '../../../src/server/daemon-record';
import { readDaemonRecord } from '../../../src/server/daemon-record';
import { stateFiles } from '../../../src/server/state-directory';
import type { ScriptTurn } from '../../support/scripts';
import { tempDirectory } from '../../support/temp-directory';
import { waitFor } from '../../support/wait-for';
import { buildPackage } from './build-package';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Waits until people have been told this. */
  said(text: string): Promise<void>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to standard input, which is then closed; left out, standard input stays open and silent. */
  readonly stdin?: string;
  readonly cwd?: string;
  readonly stdio?: StdioOptions;
  readonly uid?: number;
}

/** The real program, with a state directory of its own. */
export interface CliBench {
  readonly home: string;
  /** A fresh directory with these files. */
  workspace(files?: Readonly<Record<string, string>>): Promise<string>;
  /** A script file of these turns; answers `scripted:FILE`. */
  script(turns: readonly ScriptTurn[]): Promise<string>;
  start(args: readonly string[], options?: RunOptions): Running;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  daemon(): DaemonRecord;
  /** Stops the daemon and removes everything. */
  tearDown(): Promise<void>;
}

// Short, so that a killed worker is noticed soon.
const TIMEOUTS = { heartbeatMs: 2_000, retryInitialMs: 50, retryMaxMs: 500, modelAttempts: 5 };

/** @param limits settings beyond those that make the suite fast. */
export async function createCliBench(limits: Readonly<Record<string, number>> = {}): Promise<CliBench> {
  const root = await tempDirectory('cli');
  const client = buildPackage(path.join(root, 'package'));
  const home = path.join(root, 'home');
  const settings = path.join(root, 'settings.json');
  writeFileSync(settings, JSON.stringify({ timeouts: TIMEOUTS, limits, embedded: { fast: true } }));
  const base = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'],
    SUREHAND_HOME: home,
    SUREHAND_SETTINGS: settings,
    SUREHAND_USER: 'tester',
  };
  const start = (args: readonly string[], options: RunOptions = {}): Running => {
    const child = spawn(process.execPath, [client, ...args], {
      cwd: options.cwd ?? root,
      env: { ...base, ...options.env },
      stdio: options.stdio ?? 'pipe',
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    if (options.stdin !== undefined) child.stdin?.end(options.stdin);
    return follow(child);
  };
  let count = 0;
  return {
    home,
    workspace: async (files = {}) => {
      const directory = await tempDirectory('workspace');
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
        writeFileSync(path.join(directory, name), text);
      }
      return directory;
    },
    script: async (turns) => {
      count += 1;
      const file = path.join(root, `script-${count}.yaml`);
      writeFileSync(file, stringify({ turns }));
      return `scripted:${file}`;
    },
    start,
    run: (args, options) => start(args, options).finished,
    daemon: () => {
      const record = readDaemonRecord(stateFiles(home));
      if (record === undefined) throw new Error('no daemon');
      return record;
    },
    tearDown: async () => {
      await start(['down']).finished;
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function follow(child: ChildProcess): Running {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin?.on('error', () => undefined);
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code) => {
      // A standard input that was left open on purpose must not keep the test.
      child.stdin?.destroy();
      resolve({ code, stdout, stderr });
    });
  });
  return {
    child,
    finished,
    said: async (text) => {
      await waitFor(`"${text}" on stderr; there was:\n${stderr}`, () => stderr.includes(text), { timeoutMs: 40_000 });
    },
  };
}
