/**
 * What journal and supervisor cost beside a bare sandboxed spawn, in one run, in turns.
 *
 *   npm run bench:journal -- [--runs N]
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const load = createRequire(path.resolve(import.meta.dirname, '../dist/client.js'));
const { createToolboxes } = load('./activities/run-toolbox');
const { createWorlds } = load('./activities/run-world');
const { findBwrap } = load('./server/tool-paths');
const { createToolRegistry } = load('./tools/registry');
const { BUILTIN_TOOLS } = load('./tools/builtin-tools');
const { sandboxArgv, DEFAULT_LIMITS } = load('./workspace/sandbox-profile');

const { values } = parseArgs({ options: { runs: { type: 'string', default: '40' } } });
const runs = Number(values.runs);
const root = mkdtempSync(path.join(os.tmpdir(), 'surehand-bench-'));
const workspace = path.join(root, 'workspace');
const stateDirectory = path.join(root, 'state');
mkdirSync(workspace);
mkdirSync(stateDirectory);

try {
  const bwrapPath = await findBwrap(process.env);
  if (bwrapPath === undefined) throw new Error('bwrap is not installed; run: npm run setup');
  const toolbox = openToolbox(bwrapPath);
  const bare = [];
  const whole = [];
  for (let run = -3; run < runs; run += 1) {
    const spawned = timed(() => bareSpawn(bwrapPath));
    const called = await timedAsync(() => call(toolbox, run));
    // The first ones warm caches.
    if (run < 0) continue;
    bare.push(spawned);
    whole.push(called);
  }
  process.stdout.write(
    `bare sandboxed spawn   median ${median(bare).toFixed(1)} ms\n` +
      `journaled call         median ${median(whole).toFixed(1)} ms\n` +
      `journal and supervisor ${(median(whole) - median(bare)).toFixed(1)} ms (${runs} runs in turns)\n`,
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}

function openToolbox(bwrapPath) {
  const sandbox = { mode: 'strict', detail: '' };
  const worldOf = createWorlds({
    stateDirectory,
    sandbox,
    bwrapPath,
    nodePath: process.execPath,
    demoRoot: '/nowhere',
  });
  const toolboxes = createToolboxes({
    registry: createToolRegistry(BUILTIN_TOOLS),
    worldOf,
    stateDirectory,
    isRunClosed: () => Promise.resolve(false),
    isJournalOurs: () => true,
    takeWorkspace: () => Promise.resolve(undefined),
    server: 'bench',
    log: () => undefined,
  });
  const permission = { mode: 'auto', unattended: true };
  return toolboxes({ input: { workspace, permission }, facts: null, workflowId: 'bench', runId: 'bench' });
}

async function call(toolbox, run) {
  const controller = new AbortController();
  const { status, message } = await toolbox.execute(
    { call: '1.1', callId: `call-${run}`, name: 'bash', input: { command: 'true' } },
    { signal: controller.signal, meaning: () => 'lost', maxBytes: 10_000, onProgress: () => undefined },
  );
  if (status !== 'success') throw new Error(message);
}

function bareSpawn(bwrapPath) {
  const spec = {
    bwrapPath,
    workspace,
    cwd: workspace,
    readOnly: false,
    git: { directories: [], pinned: [] },
    toolchains: [],
    environment: {},
    limits: DEFAULT_LIMITS,
  };
  const [program, ...args] = sandboxArgv(spec, ['/bin/bash', '-c', 'true']);
  const statusFile = openSync(path.join(root, 'status'), 'w');
  const { status, stderr } = spawnSync(program, args, {
    stdio: ['ignore', 'ignore', 'pipe', statusFile],
    timeout: 5_000,
  });
  closeSync(statusFile);
  if (status !== 0) throw new Error(`the bare spawn failed: ${String(stderr)}`);
}

function timed(work) {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

async function timedAsync(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
