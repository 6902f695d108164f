/**
 * Kills parts of a working installation at seeded random moments and holds the transcripts against what really ran.
 *
 *   npm run chaos -- [--kills N] [--seed S] [--json]
 *
 * Every call appends its own name to a ledger outside the journal: a name that stands there twice was started twice.
 * Exit code 1 if anything ran twice, was lost, or is told otherwise than it happened.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createBench, isAlive, ledgerOf, pidOf, startConversation, surehand } from './chaos/bench.mjs';
import { createRandom } from './chaos/random.mjs';
import { finishedView, judge } from './chaos/verdict.mjs';

const CONVERSATIONS = 4;
const TURNS = 12;
const PART_BY_SHARE = [
  [0.5, 'worker'],
  [0.75, 'supervisor'],
  [0.9, 'server'],
  [1, 'daemon'],
];
const RECOVERY_TIMEOUT_MS = 90_000;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const options = { kills: Number(values.kills), seed: Number(values.seed) };
if (!Number.isInteger(options.kills) || options.kills < 1 || !Number.isInteger(options.seed)) {
  process.stderr.write('chaos: --kills and --seed take whole numbers, for example --kills 300 --seed 7\n');
  process.exit(2);
}

const bench = createBench();
const state = { open: [], closed: [], started: 0, killing: true };
try {
  await topUp();
  const keeper = keepConversations();
  const killed = await killAtRandom(createRandom(options.seed));
  state.killing = false;
  await keeper;
  const report = await conclude(killed);
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : `${table(report)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
} finally {
  await surehand(bench, ['down']);
  rmSync(bench.root, { recursive: true, force: true, maxRetries: 5 });
}

/** There are always some conversations to kill in; when the killing is over, the open ones are waited for. */
async function keepConversations() {
  const deadline = () => Date.now() + RECOVERY_TIMEOUT_MS;
  let giveUpAt = deadline();
  while (state.killing || state.open.length > 0) {
    for (const conversation of [...state.open]) {
      const entries = new Set(ledgerOf(conversation)).size;
      if (entries < TURNS - 2 && state.killing) continue;
      const view = await finishedView(bench, conversation);
      if (view === undefined) continue;
      state.open = state.open.filter((candidate) => candidate !== conversation);
      state.closed.push({ conversation, view });
      giveUpAt = deadline();
    }
    if (state.killing) await topUp();
    else if (Date.now() > giveUpAt) return;
    await sleep(500);
  }
}

async function topUp() {
  while (state.open.length < CONVERSATIONS) {
    state.started += 1;
    state.open.push(await startConversation(bench, `run-${state.started}`, TURNS));
  }
}

async function killAtRandom(random) {
  const killed = { worker: 0, supervisor: 0, server: 0, daemon: 0 };
  const recoveriesMs = [];
  for (let kills = 0; kills < options.kills;) {
    await sleep(200 + random() * 1_300);
    const draw = random();
    const [, part] = PART_BY_SHARE.find(([share]) => draw < share);
    const pid = await waitForPid(part);
    if (pid === undefined) continue;
    const before = steps();
    process.kill(pid, 'SIGKILL');
    const killedAt = Date.now();
    killed[part] += 1;
    kills += 1;
    // Nothing else restarts the daemon than the next command of a person.
    if (part === 'daemon') await surehand(bench, ['list']);
    const recoveredMs = await nextStep(before, killedAt);
    if (part !== 'supervisor' && recoveredMs !== undefined) recoveriesMs.push(recoveredMs);
    if (!values.json) process.stderr.write(`kill ${kills}: ${part}, next step after ${recoveredMs ?? '?'} ms\n`);
  }
  return { killed, recoveriesMs };
}

async function waitForPid(part) {
  for (let tries = 0; tries < 200; tries += 1) {
    const pid = pidOf(bench, part);
    if (isAlive(pid)) return pid;
    await sleep(20);
  }
  return undefined;
}

/** Steps that have really happened, over all conversations. */
function steps() {
  return [...state.open, ...state.closed.map(({ conversation }) => conversation)]
    .map((conversation) => ledgerOf(conversation).length)
    .reduce((sum, length) => sum + length, 0);
}

async function nextStep(before, killedAt) {
  while (Date.now() - killedAt < RECOVERY_TIMEOUT_MS) {
    if (steps() > before) return Date.now() - killedAt;
    await sleep(20);
  }
  return undefined;
}

async function conclude({ killed, recoveriesMs }) {
  const totals = { calls: 0, duplicates: 0, lost: 0, unknown: 0, notStarted: 0 };
  const faults = state.open.map(({ name }) => `${name} did not end`);
  for (const { conversation, view } of state.closed) {
    const judged = judge(conversation, view);
    faults.push(...judged.faults);
    for (const [name, count] of Object.entries(judged.totals)) totals[name] += count;
  }
  if (totals.duplicates > 0) faults.push(`${totals.duplicates} calls ran twice`);
  if (totals.lost > 0) faults.push(`${totals.lost} calls are recorded as done and never ran`);
  if (totals.unknown > killed.supervisor) faults.push('an outcome is unknown although its supervisor was not killed');
  const sorted = [...recoveriesMs].sort((a, b) => a - b);
  return {
    seed: options.seed,
    kills: options.kills,
    killed,
    conversations: state.closed.length,
    ...totals,
    recoveries: recoveriesMs.length,
    recoveryMedianMs: sorted[Math.floor(sorted.length / 2)] ?? null,
    recoveryWorstMs: sorted.at(-1) ?? null,
    faults,
  };
}

function table(report) {
  const { faults, killed, ...numbers } = report;
  const rows = Object.entries({
    ...numbers,
    ...Object.fromEntries(Object.entries(killed).map(([k, v]) => [`killed ${k}`, v])),
  });
  return [
    ...rows.map(([name, value]) => `${name.padEnd(20)} ${value}`),
    ...(faults.length === 0 ? ['no faults'] : ['faults:', ...faults.map((fault) => `  ${fault}`)]),
  ].join('\n');
}
