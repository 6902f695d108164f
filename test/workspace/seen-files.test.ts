import { writeFileSync } from 'node:fs';
import { removeTempDirectories, tempDirectory } from '../support/temp-directory';
import { changedByCalls, createSeenFiles, digestOf } from '../../src/workspace/seen-files';
import type { SeenFiles } from '../../src/workspace/ports';

afterAll(removeTempDirectories);

const bytes = (text: string): Uint8Array => Buffer.from(text);
const opened = async (): Promise<(runId: string, workflowId?: string) => SeenFiles> => {
  const stateDirectory = await tempDirectory('seen');
  return (runId, workflowId = 'w') => createSeenFiles({ stateDirectory, workflowId, runId });
};

test('another worker of the same run → knows what was seen', async () => {
  const open = await opened();
  await open('r1').saw('f', bytes('1'));
  await expect(open('r1').beforeWrite('f', bytes('1'))).resolves.toBeUndefined();
  await expect(open('r1').beforeWrite('f', bytes('2'))).rejects.toThrow('changed since it was read');
});

test('a later run of the chain → trusts what was seen before only if it was one content', async () => {
  const open = await opened();
  await open('r1').saw('f', bytes('1'));
  await expect(open('r2').beforeWrite('f', bytes('1'))).resolves.toBeUndefined();
  await expect(open('r2').beforeWrite('f', bytes('2'))).rejects.toThrow('read in an earlier part of this run');
  // A reset may have gone back to where only the first content was known.
  await open('r1').saw('f', bytes('2'));
  await expect(open('r2').beforeWrite('f', bytes('2'))).rejects.toThrow('read in an earlier part of this run');
  await open('r2').saw('f', bytes('2'));
  await expect(open('r2').beforeWrite('f', bytes('2'))).resolves.toBeUndefined();
});

test('another workflow → knows nothing of it', async () => {
  const open = await opened();
  await open('r1').saw('f', bytes('1'));
  await expect(open('r1', 'other').beforeWrite('f', bytes('2'))).resolves.toBeUndefined();
});

test('the first content before any change of a call is kept', async () => {
  const stateDirectory = await tempDirectory('seen');
  const seen = createSeenFiles({ stateDirectory, workflowId: 'w', runId: 'r' });
  await seen.saw('read-only', bytes('1'));
  await seen.beforeWrite('f', bytes('1'));
  await seen.wrote('f', bytes('2'));
  await seen.beforeWrite('f', bytes('2'));
  await seen.beforeWrite('new', null);
  const changed = await changedByCalls(stateDirectory, 'w');
  expect([...changed].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: 'f', before: digestOf(bytes('1')) },
    { path: 'new', before: null },
  ]);
});

test('a state directory that cannot be written → an error in words, not silence', async () => {
  const place = await tempDirectory('seen');
  writeFileSync(`${place}/file`, '');
  const seen = createSeenFiles({ stateDirectory: `${place}/file`, workflowId: 'w', runId: 'r' });
  await expect(seen.saw('f', bytes('1'))).rejects.toThrow('The worker cannot note which files were read');
});
