import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ScriptCall, ScriptTurn } from '../support/scripts';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';
import { waitFor } from '../support/wait-for';
import { createWorkerBench, type HostProcess, type StartedRun, type WorkerBench } from './worker-bench';

// A missing journal entry must never pass for proof. Each test counts by a ledger in the workspace what really started.

let bench: WorkerBench;

beforeAll(async () => {
  bench = await createWorkerBench();
}, 60_000);

afterAll(async () => {
  await bench.tearDown();
  await removeTempDirectories();
});

const bash = (command: string): ScriptCall => ({ name: 'bash', input: { command } });
const note = (line: string): ScriptTurn => ({ calls: [bash(`echo ${line} >> ledger`)] });
/** Notes its start, waits until it is let go, notes its end. */
const SLOW: ScriptTurn = {
  calls: [bash('echo start >> ledger; until test -e go; do sleep 0.05; done; echo end >> ledger')],
};
const END: ScriptTurn = { text: 'The end.' };

async function untilStarted({ ledger }: StartedRun): Promise<void> {
  await waitFor('the command to start', () => ledger().length > 0, { timeoutMs: 30_000 });
}

function letGo({ workspace }: StartedRun): void {
  writeFileSync(path.join(workspace, 'go'), '');
}

async function newHome(): Promise<string> {
  return path.join(await tempDirectory('state'), 'home');
}

test('the state directory is deleted under a running worker, then replaced by an empty one → nothing starts, nothing is told as not run that ran', async () => {
  const home = await newHome();
  const host = await bench.startHost(home);
  const run = await bench.startRun(host.hostId, [SLOW, note('second'), END]);
  await untilStarted(run);

  rmSync(home, { recursive: true });
  letGo(run);
  const [first, second] = await run.results();
  mkdirSync(home);
  const other = await bench.startRun(host.hostId, [
    { calls: [bash('echo third >> ledger'), { name: 'list_files', input: {} }] },
    END,
  ]);
  const [third, read] = await other.results();

  expect(first).toContain('outcome unknown');
  expect(second).toContain('was not started now');
  expect(third).toContain('was not started now');
  expect(read).not.toContain('was not started');
  expect(run.ledger()).toEqual(['start', 'end']);
  expect(other.ledger()).toEqual([]);
  await host.kill();
}, 60_000);

describe('one worker whose journal has little space', () => {
  let home: string;
  let host: HostProcess;
  let disk: SmallDisk;

  beforeAll(async () => {
    home = await newHome();
    disk = openSmallDisk(path.join(home, 'calls'));
    host = await bench.startHost(home);
  }, 60_000);

  afterAll(async () => {
    await host.kill();
    disk.close();
  });

  test('the endpoint uses one call id twice, and the run is reset between plan and tool → each call ran once', async () => {
    const same = (line: string): ScriptTurn => ({ calls: [{ id: 'toolu_same', ...bash(`echo ${line} >> ledger`) }] });
    const twice = await bench.startRun(host.hostId, [same('one'), same('two'), END]);
    const once = await bench.startRun(host.hostId, [note('only'), END]);
    expect(await twice.results()).toHaveLength(2);
    expect(await once.results()).toHaveLength(1);

    const { workflowId } = once.handle;
    const { events = [] } = await once.handle.fetchHistory();
    const scheduled = events?.find(
      ({ activityTaskScheduledEventAttributes: attributes }) => attributes?.activityType?.name === 'runTool',
    );
    await bench.temporal.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId: (await once.handle.describe()).runId },
      reason: 'test',
      requestId: randomUUID(),
      workflowTaskFinishEventId: scheduled?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId ?? null,
    });
    const again = { ...once, handle: bench.temporal.client.workflow.getHandle<never>(workflowId) };
    await again.handle.result();

    expect(twice.ledger()).toEqual(['one', 'two']);
    expect(once.ledger()).toEqual(['only']);
  }, 60_000);

  test('no space for the journal → no change starts; no space for an outcome → it is told all the same', async () => {
    disk.fill();
    const refused = await bench.startRun(host.hostId, [
      { calls: [bash('echo first >> ledger'), { name: 'write_file', input: { path: 'ledger', content: 'x' } }] },
      END,
    ]);
    const texts = await refused.results();
    disk.clear();
    const told = await bench.startRun(host.hostId, [SLOW, END]);
    await untilStarted(told);
    disk.fill();
    letGo(told);
    const [outcome] = await told.results();

    expect(texts).toEqual([expect.stringMatching(disk.refusal), expect.stringMatching(disk.refusal)]);
    expect(refused.ledger()).toEqual([]);
    expect(outcome).toMatch(disk.outcome);
    expect(told.ledger()).toEqual(['start', 'end']);
    disk.clear();
  }, 60_000);

  test('the state directory is copied to another machine → the worker there is another host, and touches no run of this one', async () => {
    const run = await bench.startRun(host.hostId, [SLOW, note('second'), END]);
    await untilStarted(run);
    await host.kill();
    const copy = await newHome();
    // Not by Node's own copying: it refuses the named pipe of a command that runs.
    spawnSync('cp', ['-a', home, copy]);
    const record = path.join(copy, 'host.json');
    const written = JSON.parse(readFileSync(record, 'utf8')) as Record<string, unknown>;
    writeFileSync(record, JSON.stringify({ ...written, machineId: 'another' }));

    const there = await bench.startHost(copy);
    letGo(run);
    await waitFor('the end', () => run.ledger().length === 2);
    const pending = (await run.handle.describe()).raw.pendingActivities ?? [];
    const before = host.hostId;
    host = await bench.startHost(home);
    const [first] = await run.results();

    expect(there.hostId).not.toBe(before);
    expect(there.said()).toContain('was made on another machine');
    expect(pending.map(({ lastWorkerIdentity }) => lastWorkerIdentity?.split('#')[0])).toEqual([`surehand@${before}`]);
    expect(host.hostId).toBe(before);
    expect(first).toContain('[exit code 0]');
    expect(run.ledger()).toEqual(['start', 'end', 'second']);
    await there.kill();
  }, 60_000);
});

interface SmallDisk {
  fill(): void;
  clear(): void;
  close(): void;
  /** What a call is answered while it is full, and one that was running when it became so. */
  readonly refusal: RegExp;
  readonly outcome: RegExp;
}

/** A real one where this process may mount; elsewhere (a plain container) a directory that makes way for a file. */
function openSmallDisk(directory: string): SmallDisk {
  mkdirSync(directory, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', directory]).status === 0;
  const filler = path.join(directory, 'filler');
  if (mounted) {
    return {
      fill: () => void spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k']),
      clear: () => rmSync(filler),
      close: () => void spawnSync('umount', [directory]),
      refusal: /journal cannot be written \(ENOSPC\): nothing was started/,
      outcome: /\[exit code 0\]/,
    };
  }
  const aside = `${directory}.aside`;
  return {
    fill: () => {
      renameSync(directory, aside);
      writeFileSync(directory, '');
    },
    clear: () => {
      rmSync(directory);
      renameSync(aside, directory);
    },
    close: () => undefined,
    refusal: /was not started now/,
    outcome: /outcome unknown/,
  };
}
