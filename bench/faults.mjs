/**
 * Plays everything that a model's endpoint can do to a run: a loopback server misbehaves, the real program works against
 * it, on a Temporal server of its own. Prints the outcome, the requests and the time of each row.
 *
 *   npm run faults -- [--only TEXT] [--json]
 *
 * Exit code 1 if a run ends otherwise than stated, its transcript is not valid, its tool ran twice, or its counters are
 * not what the endpoint served.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createBench, ledgerOf, surehand } from './chaos/bench.mjs';
import { invalidTranscript } from './chaos/verdict.mjs';
import { loadTypeScript } from './faults/load-typescript.mjs';

const { startMessagesServer } = loadTypeScript('test/support/messages-server.ts');
const { MODEL_FAULTS } = loadTypeScript('test/support/model-faults.ts');

const AT_ONCE = 6;
const DEFAULT_BUDGET_MS = 60_000;

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, json: { type: 'boolean', default: false } },
});
const faults = MODEL_FAULTS.filter(({ name, when }) => `${when} ${name}`.includes(values.only));
if (faults.length === 0) {
  process.stderr.write(`faults: no row has "${values.only}" in its name\n`);
  process.exit(2);
}

const bench = createBench();
const rows = await Promise.all(faults.map(openRow));
const endpoints = Object.fromEntries(
  rows.map(({ id, fault, server }) => [
    id,
    { baseUrl: fault.address?.(server.url) ?? server.url, apiKey: 'sk-of-the-bench' },
  ]),
);
try {
  // One worker serves all rows, so what its settings say is the same for all.
  writeSettings(bench.env.SUREHAND_SETTINGS, {});
  const [first, ...others] = rows;
  // The first command starts server and worker for all.
  const done = [await play(first)];
  const queue = [...others];
  const lane = async () => {
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) done.push(await play(row));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const report = rows.map(({ id }) => done.find((row) => row.id === id));
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : `${table(report)}\n`);
  process.exitCode = report.every((row) => row.wrong.length === 0) ? 0 : 1;
} finally {
  await surehand(bench, ['down']);
  await Promise.all(rows.map(({ server }) => server.close()));
  rmSync(bench.root, { recursive: true, force: true, maxRetries: 5 });
}

async function openRow(fault, index) {
  const id = `row-${index + 1}`;
  const workspace = path.join(bench.root, id);
  mkdirSync(workspace);
  const command = `echo ${id} >> ledger`;
  const server = await startMessagesServer(
    fault.plan({ type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command } }),
  );
  return { id, fault, workspace, server };
}

function writeSettings(file, { endpoint, callMs, budgetMs = DEFAULT_BUDGET_MS }) {
  const settings = {
    embedded: { fast: true },
    endpoints,
    ...(endpoint === undefined ? {} : { endpoint }),
    worker: { modelIdleMs: 2_000 },
    limits: { modelWaitUnattendedMs: budgetMs },
    timeouts: { retryInitialMs: 200, retryMaxMs: 2_000, ...(callMs === undefined ? {} : { modelCallMs: callMs }) },
  };
  writeFileSync(file, JSON.stringify(settings));
}

async function play(row) {
  const { id, fault, workspace, server } = row;
  const settings = path.join(bench.root, `${id}.json`);
  writeSettings(settings, { endpoint: id, budgetMs: fault.budgetMs, callMs: fault.callMs });
  const startedAt = Date.now();
  const args = ['run', 'do what the model says', '--id', id, '--workspace', workspace, '--settings', settings];
  const run = await surehand(bench, [...args, '--model', 'a-model', '--unattended', '--json']);
  const ms = Date.now() - startedAt;
  const { stdout } = await surehand(bench, ['show', id, '--json']);
  const view = stdout === '' ? undefined : JSON.parse(stdout);
  if (!values.json) process.stderr.write(`${fault.when} ${fault.name}: ${view?.outcome ?? run.stderr}\n`);
  const ran = ledgerOf({ workspace }).length;
  return {
    id,
    name: `${fault.when}: ${fault.name}`,
    outcome: view?.outcome ?? null,
    error: view?.error?.class ?? null,
    requests: server.requests.length,
    seconds: Math.round(ms / 100) / 10,
    wrong: view === undefined ? [`no run: ${run.stderr.slice(0, 300)}`] : judge(fault, { view, server, ran }),
  };
}

function judge(fault, { view, server, ran }) {
  const wrong = invalidTranscript(view.messages);
  if (view.outcome !== fault.outcome) wrong.push(`outcome ${view.outcome} instead of ${fault.outcome}`);
  const kind = view.error?.class;
  if (kind !== fault.errorClass) wrong.push(`error ${kind} instead of ${fault.errorClass}`);
  const { requests, runsTool = fault.outcome === 'done' } = fault;
  if (requests !== undefined && server.requests.length !== requests) wrong.push(`${requests} requests were expected`);
  if (ran !== (runsTool ? 1 : 0)) wrong.push(`the tool ran ${ran} times`);
  const served = sum(server.served.map((usage) => usage.input_tokens + usage.output_tokens));
  const counted = sum(Object.values(view.usage).map((usage) => sum(Object.values(usage))));
  if (served !== counted) wrong.push(`${counted} tokens counted, ${served} served`);
  return wrong;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function table(report) {
  const cells = report.map(({ name, outcome, error, requests, seconds, wrong }) => [
    wrong.length === 0 ? 'ok' : 'WRONG',
    name,
    `${outcome}${error === null ? '' : ` (${error})`}`,
    `${requests} requests`,
    `${seconds.toFixed(1)} s`,
    wrong.join('; '),
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...cells.map((row) => row[column].length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [...lines, `${report.filter(({ wrong }) => wrong.length === 0).length} of ${report.length} as stated`].join(
    '\n',
  );
}
