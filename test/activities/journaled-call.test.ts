import { runJournaled } from '../../src/activities/journaled-call';
import type { Executed } from '../../src/activities/host';
import type { CallJournal } from '../../src/workspace/call-journal';
import { WorkspaceError } from '../../src/workspace/ports';
import { createWorkspaceFiles } from '../../src/workspace/files';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';

afterEach(removeTempDirectories);

const INTENT = { tool: 't', kind: 'other', digest: 'v1:0' } as const;
const DONE: Executed = { status: 'success', message: 'done', durationMs: 1 };

/** A journal that knows nothing yet, and whose disk may be full. */
async function run(full: {
  readonly begin?: true;
  readonly record?: true;
}): Promise<{ result: Executed; starts: number }> {
  const files = createWorkspaceFiles(await tempDirectory('workspace'));
  const noSpace = new WorkspaceError('The journal cannot be written (ENOSPC).');
  const journal: CallJournal<Executed> = {
    lookup: () => Promise.resolve({ state: 'none' }),
    begin: () => (full.begin === true ? Promise.reject(noSpace) : Promise.resolve(true)),
    filesOf: () => files,
    record: () => (full.record === true ? Promise.reject(noSpace) : Promise.resolve()),
  };
  let starts = 0;
  const result = await runJournaled(journal, 'wf\nm-1', INTENT, {
    refusal: () => Promise.resolve(undefined),
    start: () => {
      starts += 1;
      return Promise.resolve(DONE);
    },
    resume: () => Promise.reject(new Error('nothing to resume')),
  });
  return { result, starts };
}

test('the entry cannot be written → nothing starts, and the call says why', async () => {
  expect(await run({ begin: true })).toEqual({
    result: { status: 'failed', message: 'The journal cannot be written (ENOSPC).', durationMs: 0 },
    starts: 0,
  });
});

test('only the outcome cannot be written → it is reported all the same', async () => {
  expect(await run({ record: true })).toEqual({ result: DONE, starts: 1 });
});
