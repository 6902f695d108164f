import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stateFiles } from '../../src/server/state-directory';
import { removeTempDirectories } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';
import type { CliBench } from './support/cli-bench';
import { createCliBench } from './support/cli-bench';

const EXAMPLE = path.resolve(__dirname, '..', '..', 'examples', 'tools', 'count-lines.mjs');
const KEY = 'sk-test-0123456789';

/** A CommonJS module beside the package, as an installed one has it. */
const SECOND = `const { defineTool, z } = require('surehand/tools');
exports.shout = defineTool({
  name: 'shout', description: 'd', effect: 'read',
  input: z.object({ text: z.string() }), execute: ({ text }) => 'hey ' + text,
});`;

let bench: CliBench;

beforeAll(async () => {
  bench = await createCliBench();
});

afterAll(async () => {
  await bench.tearDown();
  await removeTempDirectories();
});

test('a tool module that is broken → run ends with exit 2 and one sentence, without trying again and again', async () => {
  const files = await bench.workspace({ 'bad.cjs': 'throw new Error("no database")' });
  const env = { SUREHAND_TOOLS: JSON.stringify([`${files}/bad.cjs`]) };
  const { code, stdout, stderr } = await bench.run(['run', 'x', '-w', files, '--model', 'scripted:demo'], { env });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/surehand: The tool module \S+\/bad\.cjs cannot be loaded: no database\n$/);
  expect(bench.daemon()).toMatchObject({ state: 'failed', refused: true });
});

test('dev: its tool works in a run, its logs and results hide the key, gc cleans up, Ctrl-C stops everything', async () => {
  const workspace = await bench.workspace({ 'a.txt': `one\ntwo\n${KEY}\n`, 'b/c.txt': 'x\n' });
  const model = await bench.script([
    {
      calls: [
        { name: 'count_lines', input: { pattern: '**/*.txt' } },
        { name: 'shout', input: { text: KEY } },
      ],
    },
    {
      calls: [{ name: 'read_file', input: { path: 'a.txt' } }],
      expect: { lastResults: ['4 lines in 2 files', 'hey [secret]'] },
    },
    { calls: [{ name: 'grep', input: { pattern: KEY } }], expect: { lastResults: ['[secret]', `!${KEY}`] } },
    { text: 'Counted.', expect: { lastResults: ['a.txt:3:[secret]'] } },
  ]);
  const second = path.join(path.dirname(bench.home), 'package', 'second.cjs');
  writeFileSync(second, SECOND);
  const dev = bench.start(['dev', '--tools', EXAMPLE, '--tools', second], { env: { ANTHROPIC_API_KEY: KEY } });
  await dev.said('Ctrl-C stops server and worker.');

  const run = await bench.run(['run', 'count', '-w', workspace, '--model', model, '--id', 'counting']);
  expect(run).toMatchObject({ code: 0, stdout: 'Counted.\n' });
  expect(run.stderr).toMatch(/✓ 1\.1 {2}count_lines \*\*\/\*\.txt/);

  const [again, logs] = await Promise.all([
    bench.run(['dev', '--tools', EXAMPLE]),
    bench.run(['logs', '--run', 'counting', '--json']),
  ]);
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringMatching(/already run, without these tools\. Stop them first .*: surehand down\n$/),
  ]);
  const entries = logs.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const ofRun = { workflowId: 'counting', runId: expect.any(String) };
  expect(entries).toContainEqual(
    expect.objectContaining({
      ...{ level: 'info', source: 'worker', text: 'tool success', tool: 'count_lines', callId: expect.any(String) },
      ...ofRun,
    }),
  );
  expect(entries).toContainEqual(expect.objectContaining({ text: 'callModel ended', activityId: 'model-1', ...ofRun }));

  const { logs: directory } = stateFiles(bench.home);
  const old = path.join(directory, 'worker.jsonl.4');
  const scratch = path.join(bench.home, 'ports.json.123-0123abcd.tmp');
  for (const file of [old, scratch]) {
    writeFileSync(file, 'x'.repeat(2_048));
    utimesSync(file, 1_000, 1_000);
  }
  const removed = [
    { kind: 'old logs', count: 1, bytes: 2_048 },
    { kind: 'temporary files', count: 1, bytes: 2_048 },
  ];
  const dry = await bench.run(['gc', '--dry-run', '--json']);
  expect(JSON.parse(dry.stdout)).toEqual({ schemaVersion: 1, dryRun: true, removed });
  expect([existsSync(old), existsSync(scratch)]).toEqual([true, true]);
  const gc = await bench.run(['gc']);
  expect([gc.code, gc.stdout]).toEqual([0, 'old logs          1  2.0 KB\ntemporary files   1  2.0 KB\n']);
  expect([existsSync(old), existsSync(scratch)]).toEqual([false, false]);

  const { pid } = bench.daemon();
  dev.child.kill('SIGINT');
  const ended = await dev.finished;
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('Stopping server and worker')]);
  expect(ended.stdout).toMatch(/ worker worker ready .*tools=count_lines shout/);
  expect(ended.stdout + logs.stdout).not.toContain(KEY);
  await waitFor('the end of the daemon', () => !existsSync(`/proc/${String(pid)}`));
  expect(existsSync(stateFiles(bench.home).daemon)).toBe(false);
}, 120_000);
