import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkspaceFiles } from '../../src/workspace/files';
import { gitFacts } from '../../src/workspace/git';
import { readInstructions } from '../../src/workspace/instructions';
import { createToolBench } from '../tools/tool-bench';
import type { ToolBench } from '../tools/tool-bench';

let bench: ToolBench;
beforeEach(() => {
  bench = createToolBench();
});
afterEach(() => {
  bench.close();
});

const facts = async (mode: 'strict' | 'off' | 'broken' = 'strict') =>
  await gitFacts({
    files: createWorkspaceFiles(bench.workspace),
    runner: bench.runner,
    sandbox: { mode, detail: '' },
  });

describe('gitFacts', () => {
  test('no repository → null', async () => {
    expect(await facts()).toBeNull();
    bench.sh('mkdir .git');
    expect(await facts()).toBeNull();
  });

  test('a repository with changes → branch, commit, number of changed files', async () => {
    bench.sh(
      'git init -q -b main; git config user.email a@b.c; git config user.name a; echo 1 > f; echo 1 > g; git add .',
    );
    expect(await facts()).toEqual({ branch: 'main', head: '', changedFiles: 2 });
    bench.sh('git commit -qm one; echo 2 > f; git mv g h; echo 3 > "n ew"');
    expect(await facts()).toEqual({ branch: 'main', head: bench.sh('git rev-parse HEAD').trim(), changedFiles: 3 });
  });

  test('sandbox off or broken → HEAD is read, git is not run', async () => {
    bench.sh(
      'git init -q -b main; git config user.email a@b.c; git config user.name a; git commit -qm x --allow-empty',
    );
    const head = bench.sh('git rev-parse HEAD').trim();
    for (const mode of ['off', 'broken'] as const) {
      expect(await facts(mode)).toEqual({ branch: 'main', head, changedFiles: -1 });
    }
  });

  test('fsmonitor, filters, text conversion and hooks that run a program → no trace of it', async () => {
    bench.sh(`git init -q -b main; git config user.email a@b.c; git config user.name a; echo 1 > f; git add .; git commit -qm x
      git config core.fsmonitor 'touch ${bench.outside}/P P;:'; git config filter.x.clean 'touch ${bench.outside}/P P;cat'
      git config diff.x.textconv 'touch ${bench.outside}/P P;cat'; echo '* filter=x diff=x' > .gitattributes
      printf '#!/bin/sh\ntouch P' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; echo 2 > f`);
    expect(await facts()).toMatchObject({ branch: 'main' });
    expect(existsSync(join(bench.workspace, 'P'))).toBe(false);
    expect(existsSync(join(bench.outside, 'P'))).toBe(false);
  });

  test('afterwards → the files of the command are gone', async () => {
    bench.sh('git init -q');
    await facts();
    expect(bench.sh(`ls ${bench.state}/calls`)).toBe('');
  });
});

describe('readInstructions', () => {
  const read = async () => await readInstructions(createWorkspaceFiles(bench.workspace));

  test('none, or one that is a link outside → none', async () => {
    expect(await read()).toEqual([]);
    bench.sh('echo secret > ../outside/AGENTS.md; ln -s ../outside/AGENTS.md AGENTS.md');
    expect(await read()).toEqual([]);
  });

  test('a file → its text', async () => {
    bench.put('AGENTS.md', 'Use tabs.\n');
    expect(await read()).toEqual([{ path: 'AGENTS.md', text: 'Use tabs.\n', omittedBytes: 0 }]);
  });

  test('more than 32 KB → cut between characters, says how much is missing', async () => {
    bench.put('AGENTS.md', `a${'é'.repeat(20_000)}`);
    const [file] = await read();
    expect(Buffer.byteLength(file!.text)).toBe(32_767);
    expect(file!.text.endsWith('é')).toBe(true);
    expect(file!.omittedBytes).toBe(40_001 - 32_767);
  });
});
