import { createWorkspaceFiles } from '../../src/workspace/files';
import { createRunChanges } from '../../src/workspace/run-changes';
import type { RunChanges } from '../../src/workspace/run-changes';
import { createToolBench } from '../tools/tool-bench';
import type { ToolBench } from '../tools/tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
});
afterEach(() => {
  bench.close();
});

/** The workflow id is the bench's, so that changes by its file tools count. */
const RUN = { workflowId: 'bench', firstRunId: 'first' };

const changesOf = (isSandboxed = true): RunChanges =>
  createRunChanges({
    stateDirectory: bench.state,
    files: createWorkspaceFiles(bench.workspace),
    runner: bench.runner,
    isSandboxed,
  });

const BASE = `printf 'same\\n' > same; printf 'a\\n' > changed; printf 'a\\n' > deleted; mkdir dir; printf 'a\\n' > dir/old
  printf '\\0\\1' > binary; printf 'a\\n' > mode; printf 'a\\n' > back; printf '*.log\\n' > .gitignore; echo a > before.log`;
const COMMIT =
  'git init -q -b main; git config user.email a@b.c; git config user.name a; git add .; git commit -qm base';

/** The start of a run: what the workspace is like. */
const STARTS: readonly (readonly [string, string])[] = [
  ['no repository', BASE],
  ['a clean repository', `${BASE}; ${COMMIT}`],
  ['a repository without a commit', `${BASE}; git init -q; git add same changed`],
  [
    'a dirty repository',
    `echo first > same; echo first > changed; echo a > deleted; ${COMMIT}; ${BASE}; git add changed; echo x > untouched`,
  ],
];

describe.each(STARTS)('%s', (_, start) => {
  test('whatever commands and tools did → named, and nothing else', async () => {
    bench.sh(start);
    await changesOf().begin(RUN);
    await bench.call('bash', {
      command: `echo b >> changed; rm deleted; mv dir/old dir/new; printf '\\0\\2' > binary; chmod +x mode
        echo x > back; printf 'a\\n' > back; touch same; cp same s; mv s same; echo new > 'n é w'; echo x > before.log
        mkdir -p deep/er; echo x > deep/er/f; ln -sfn nowhere link; rm link`,
    });
    await bench.call('write_file', { path: 'tool.log', content: 'ignored by git\n' });
    await bench.call('write_file', { path: 'made-and-removed', content: 'x' });
    await bench.call('bash', { command: 'rm made-and-removed' });
    expect(await changesOf().changed(RUN)).toEqual({
      paths: ['binary', 'changed', 'deep/er/f', 'deleted', 'dir/new', 'dir/old', 'mode', 'n é w', 'tool.log'],
      omitted: 0,
    });
  });
});

test('changes that were committed, amended, stashed or on another branch → told by their content', async () => {
  bench.sh(`${BASE}; ${COMMIT}`);
  await changesOf().begin(RUN);
  bench.sh(`echo b > changed; git commit -qam two; git rm -q deleted; git commit -q --amend --no-edit
    git checkout -qb other; echo z > same; git commit -qam three; git checkout -q main; git merge -q other
    git mv dir/old dir/new; git stash -q; git stash pop -q`);
  expect((await changesOf().changed(RUN))?.paths).toEqual(['changed', 'deleted', 'dir/new', 'dir/old', 'same']);
});

test('a repository that is made, or removed, while the run goes on → changes are still seen', async () => {
  bench.sh(BASE);
  await changesOf().begin(RUN);
  bench.sh(`${COMMIT}; echo b > changed`);
  expect((await changesOf().changed(RUN))?.paths).toEqual(['changed']);
  await changesOf().begin({ ...RUN, firstRunId: 'second' });
  bench.sh('rm -rf .git; echo c > changed; echo new > new');
  expect((await changesOf().changed({ ...RUN, firstRunId: 'second' }))?.paths).toEqual(['changed', 'new']);
});

test('files that come out from behind an ignore rule → are not new', async () => {
  bench.sh(`${BASE}; ${COMMIT}`);
  await new Promise((resolve) => setTimeout(resolve, 30));
  await changesOf().begin(RUN);
  bench.sh('rm .gitignore');
  expect((await changesOf().changed(RUN))?.paths).toEqual(['.gitignore']);
});

test('no sandbox → git is not run, changes are seen all the same', async () => {
  bench.sh(`${BASE}; ${COMMIT}; git config core.fsmonitor 'touch P;:'`);
  await changesOf(false).begin(RUN);
  bench.sh('echo b > changed; rm deleted');
  expect((await changesOf(false).changed(RUN))?.paths).toEqual(['changed', 'deleted']);
});

test('the workspace given back in between → changes of others meanwhile are not counted', async () => {
  bench.sh(BASE);
  await changesOf().begin(RUN);
  bench.sh('echo b > changed');
  await changesOf().pause(RUN);
  bench.sh('echo theirs > theirs');
  expect((await changesOf().changed(RUN))?.paths).toEqual(['changed']);
  await changesOf().begin(RUN);
  bench.sh('rm deleted');
  await changesOf().begin(RUN);
  expect((await changesOf().changed(RUN))?.paths).toEqual(['changed', 'deleted']);
});

test('nothing noted at the begin → says that it does not know', async () => {
  expect(await changesOf().changed(RUN)).toBeUndefined();
});

test('very many changes → cut, and the rest counted', async () => {
  await changesOf().begin(RUN);
  bench.sh('touch $(seq 1 700)');
  const changed = await changesOf().changed(RUN);
  expect(changed?.paths).toHaveLength(500);
  expect(changed?.omitted).toBe(200);
});
