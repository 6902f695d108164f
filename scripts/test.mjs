/**
 * `npm test`: set-up, the static checks, all tests, and one closing line with the totals.
 * `npm test -- PATTERN …` runs only the tests whose path matches.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './lib/checkout.mjs';
import { leftovers, suiteProcesses } from './lib/leftovers.mjs';
import { runCommand } from './lib/run-command.mjs';
import { isMain, runMain } from './lib/say.mjs';
import { setUp } from './setup.mjs';

const CHECKS = [
  { name: 'formatting', command: ['prettier', '--check', '.'] },
  { name: 'lint', command: ['eslint', '.', '--max-warnings', '0'] },
  { name: 'types', command: ['tsc', '--noEmit', '-p', 'tsconfig.test.json'] },
  { name: 'unused exports', command: ['knip'] },
  { name: 'copies', command: ['jscpd', 'src', 'test', 'scripts'] },
];
const CHECKS_AT_ONCE = 2;

/** The short form of `npm run chaos`; it needs the machine for itself. */
const CHAOS = { name: 'chaos', command: [process.execPath, 'bench/chaos.mjs', '--kills', '6', '--seed', '1'] };
const LEAVING_MS = 5_000;

/** The closing line. Skipped tests are mentioned only when there are some. */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** The totals of jest's own report; a test file that could not be run at all counts as one failed test. */
export function jestTotals(report) {
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** 0 only if something ran and nothing failed. */
export function exitCodeOf({ passed, failed }) {
  return failed === 0 && passed > 0 ? 0 : 1;
}

async function runChecks() {
  const results = [];
  const waiting = [...CHECKS];
  const runWaiting = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      results.push(await runCheck(check));
    }
  };
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, runWaiting));
  return results.map(countOf).reduce(add);
}

function countOf(ok) {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

/** Whatever the suite started has ended, or ends within seconds. */
async function nothingLeft(before) {
  const deadline = Date.now() + LEAVING_MS;
  while (leftovers(before).length > 0 && Date.now() < deadline) await sleep(100);
  const left = leftovers(before);
  process.stdout.write(`${left.length === 0 ? 'PASS' : 'FAIL'} no process is left\n`);
  for (const { pid, command } of left) process.stdout.write(`  ${pid} ${command.slice(0, 200)}\n`);
  return left.length === 0;
}

async function runCheck({ name, command: [program, ...args] }) {
  const startedAt = Date.now();
  const file = path.isAbsolute(program) ? program : path.join(ROOT, 'node_modules', '.bin', program);
  const { code, output } = await runCommand(file, args, { cwd: ROOT });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${code === 0 ? 'PASS' : 'FAIL'} ${name} (${seconds} s)\n${code === 0 ? '' : output}`);
  return code === 0;
}

async function runJest(args) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'surehand-test-'));
  const file = path.join(directory, 'report.json');
  try {
    const jest = path.join(ROOT, 'node_modules', '.bin', 'jest');
    const code = await runInheriting(jest, ['--json', '--forceExit', `--outputFile=${file}`, ...args]);
    const totals = readTotals(file);
    // Jest can fail without a failing test (a handle left open with --detectOpenHandles, a coverage threshold).
    return code !== 0 && totals.failed === 0 ? { ...totals, failed: 1 } : totals;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readTotals(file) {
  try {
    return jestTotals(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

function runInheriting(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: ROOT,
      env: hermetic(process.env),
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('error', () => resolve(127));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** A developer's own keys, servers and state directory must not get into the tests. */
function hermetic(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(ANTHROPIC|SUREHAND|TEMPORAL)_/.test(name)));
}

function add(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    await setUp({ env: process.env });
    const patterns = process.argv.slice(2);
    const checks = patterns.length === 0 ? await runChecks() : { passed: 0, failed: 0, skipped: 0 };
    const before = suiteProcesses();
    const tests = await runJest(patterns);
    const after = patterns.length === 0 ? [await runCheck(CHAOS), await nothingLeft(before)] : [];
    const totals = after.reduce((sum, ok) => add(sum, countOf(ok)), add(checks, tests));
    process.stdout.write(`${closingLine(totals)}\n`);
    process.exitCode = exitCodeOf(totals);
  });
}
