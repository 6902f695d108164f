import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkspaceLeases } from '../../src/workspace/lease';
import type { Lease } from '../../src/workspace/lease';

let base: string;
let workspace: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'surehand-lease-')));
  workspace = join(base, 'work');
  mkdirSync(workspace);
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const run = (name: string): Lease => ({ workflowId: name, firstRunId: `${name}-run` });
const open = async () => false;
const closed = async () => true;

test('a free workspace → taken; by the same run again → still its own; by another → busy, names the holder', async () => {
  const leases = createWorkspaceLeases(join(base, 'leases'));
  expect(await leases.acquire(workspace, run('a'), open)).toEqual({ ok: true });
  expect(await leases.acquire(workspace, run('a'), open)).toEqual({ ok: true });
  expect(await leases.acquire(workspace, run('b'), open)).toEqual({ ok: false, holder: run('a') });
  expect(await leases.holder(workspace)).toEqual(run('a'));
});

test('the same workflow id with another first run → another run', async () => {
  const leases = createWorkspaceLeases(join(base, 'leases'));
  await leases.acquire(workspace, run('a'), open);
  expect(await leases.acquire(workspace, { workflowId: 'a', firstRunId: 'later' }, open)).toMatchObject({ ok: false });
});

test('released → free again; a release by somebody else → nothing', async () => {
  const leases = createWorkspaceLeases(join(base, 'leases'));
  await leases.acquire(workspace, run('a'), open);
  await leases.release(workspace, run('b'));
  expect(await leases.holder(workspace)).toEqual(run('a'));
  await leases.release(workspace, run('a'));
  await leases.release(workspace, run('a'));
  expect(await leases.holder(workspace)).toBeUndefined();
  expect(await leases.acquire(workspace, run('b'), open)).toEqual({ ok: true });
});

test('a holder whose run is closed → taken over without anybody cleaning up', async () => {
  const leases = createWorkspaceLeases(join(base, 'leases'));
  await leases.acquire(workspace, run('a'), open);
  const asked: Lease[] = [];
  const isClosed = async (holder: Lease) => {
    asked.push(holder);
    return true;
  };
  expect(await leases.acquire(workspace, run('b'), isClosed)).toEqual({ ok: true });
  expect(asked).toEqual([run('a')]);
  await leases.release(workspace, run('a'));
  expect(await leases.holder(workspace)).toEqual(run('b'));
});

test('another name of the same directory → the same lease; another directory → another', async () => {
  const leases = createWorkspaceLeases(join(base, 'leases'));
  symlinkSync(workspace, join(base, 'alias'));
  await leases.acquire(workspace, run('a'), open);
  expect(await leases.acquire(join(base, 'alias'), run('b'), open)).toMatchObject({ ok: false });
  mkdirSync(join(base, 'other'));
  expect(await leases.acquire(join(base, 'other'), run('b'), open)).toEqual({ ok: true });
});

test('forty runs at once, free or left by a closed run → exactly one gets it', async () => {
  for (const before of [undefined, run('old')]) {
    const directory = join(base, `leases-${before === undefined ? 'free' : 'left'}`);
    if (before !== undefined) await createWorkspaceLeases(directory).acquire(workspace, before, open);
    const isClosed = async (holder: Lease) => holder.workflowId === 'old';
    const results = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        return await createWorkspaceLeases(directory).acquire(workspace, run(`r${n}`), isClosed);
      }),
    );
    const winners = results.flatMap((result, n) => (result.ok ? [`r${n}`] : []));
    expect(winners).toHaveLength(1);
    expect((await createWorkspaceLeases(directory).holder(workspace))?.workflowId).toBe(winners[0]);
  }
});

test('takers and givers at random → never two holders at a time', async () => {
  const directory = join(base, 'leases');
  let holders = 0;
  let worst = 0;
  let turns = 0;
  await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const leases = createWorkspaceLeases(directory);
      for (let round = 0; round < 15; round += 1) {
        const mine = run(`r${n}-${round}`);
        if (!(await leases.acquire(workspace, mine, open)).ok) continue;
        holders += 1;
        turns += 1;
        worst = Math.max(worst, holders);
        await new Promise((resolve) => setImmediate(resolve));
        holders -= 1;
        await leases.release(workspace, mine);
      }
    }),
  );
  expect(worst).toBe(1);
  expect(turns).toBeGreaterThan(1);
});

test('a taker who looked long ago, while the lease changed hands several times → does not get it', async () => {
  const leases = createWorkspaceLeases(join(base, 'leases'));
  await leases.acquire(workspace, run('a'), open);
  const whileOthersMove = async (holder: Lease) => {
    if (holder.workflowId !== 'a') return false;
    // The generation after a's is used and cleared away before this answer comes.
    await leases.acquire(workspace, run('c'), closed);
    await leases.release(workspace, run('c'));
    await leases.acquire(workspace, run('d'), open);
    return true;
  };
  expect(await leases.acquire(workspace, run('b'), whileOthersMove)).toEqual({ ok: false, holder: run('d') });
  expect(await leases.holder(workspace)).toEqual(run('d'));
});

test('left-overs of a crash and a file that does not read → free, and cleared away', async () => {
  const directory = join(base, 'leases');
  const leases = createWorkspaceLeases(directory);
  await leases.acquire(workspace, run('a'), open);
  const [name] = readdirSync(directory);
  writeFileSync(join(directory, name!), '{"workflowId": ');
  writeFileSync(join(directory, 'new-left-over'), '');
  expect(await leases.acquire(workspace, run('b'), open)).toEqual({ ok: true });
  expect(await leases.acquire(workspace, run('c'), closed)).toEqual({ ok: true });
  expect(readdirSync(directory).filter((file) => !file.startsWith('new-'))).toHaveLength(1);
});
