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
import { createBench, createStartWatch, findVictim, ledgerOf, startConversation, surehand } from './chaos/bench.mjs';
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
const starts = createStartWatch(bench);
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
  const recoveriesMs = { worker: [], supervisor: [], server: [], daemon: [] };
  for (let kills = 0; kills < options.kills;) {
    await sleep(200 + random() * 1_300);
    const draw = random();
    const [, part] = PART_BY_SHARE.find(([share]) => draw < share);
    const victim = await waitForVictim(part);
    if (victim === undefined) continue;
    process.kill(victim.pid, 'SIGKILL');
    const killedAt = Date.now();
    killed[part] += 1;
    kills += 1;
    // Nothing else restarts the daemon than the next command of a person.
    if (part === 'daemon') await surehand(bench, ['list']);
    const recoveredMs = await nextStep(killedAt, victim.conversation);
    if (recoveredMs !== undefined) recoveriesMs[part].push(recoveredMs);
    if (!values.json) process.stderr.write(`kill ${kills}: ${part}, next step after ${recoveredMs ?? '?'} ms\n`);
  }
  return { killed, recoveriesMs };
}

async function waitForVictim(part) {
  for (let tries = 0; tries < 200; tries += 1) {
    const victim = findVictim(bench, part);
    if (victim !== undefined) return victim;
    await sleep(20);
  }
  return undefined;
}

/**
 * How long until the next step began after a kill: of the conversation whose supervisor it was, else of any. Undefined
 * when none came, also because that conversation has no step left.
 */
async function nextStep(killedAt, conversation) {
  while (Date.now() - killedAt < RECOVERY_TIMEOUT_MS) {
    const startedAt = starts.firstAfter(killedAt, conversation);
    if (startedAt !== undefined) return startedAt - killedAt;
    if (conversation !== undefined && starts.countOf(conversation) >= TURNS) return undefined;
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
  return {
    seed: options.seed,
    kills: options.kills,
    killed,
    conversations: state.closed.length,
    ...totals,
    recovery: Object.fromEntries(Object.entries(recoveriesMs).map(([part, times]) => [part, summary(times)])),
    faults,
  };
}

/** Milliseconds from a kill to the next step. */
function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return {
    times: sorted.length,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? null,
    worstMs: sorted.at(-1) ?? null,
  };
}

function table(report) {
  const { faults, killed, recovery, ...numbers } = report;
  const victims = Object.entries(killed).map(([part, times]) => {
    const { medianMs, worstMs } = recovery[part];
    return [`killed ${part}`, `${times}, next step after ${medianMs ?? '?'} ms (median), ${worstMs ?? '?'} ms (worst)`];
  });
  return [
    ...[...Object.entries(numbers), ...victims].map(([name, value]) => `${name.padEnd(20)} ${value}`),
    ...(faults.length === 0 ? ['no faults'] : ['faults:', ...faults.map((fault) => `  ${fault}`)]),
  ].join('\n');
}
