import { createTwoFilesPatch } from 'diff';
import { boundDiff, decodeStrict } from './file-text';

/** Longer texts are compared no further: people see the paths anyway. */
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 300;

/** Unified diff of a change for people; undefined when there is none to show (binary, too large, too different). */
export function fileDiff(path: string, before: Uint8Array | undefined, after: Uint8Array): string | undefined {
  if (after.length > MAX_BYTES || (before?.length ?? 0) > MAX_BYTES) return undefined;
  const oldText = before === undefined ? '' : decodeStrict(before);
  const newText = decodeStrict(after);
  if (oldText === undefined || newText === undefined || oldText === newText) return undefined;
  const oldName = before === undefined ? '/dev/null' : `a/${path}`;
  const options = { context: 3, timeout: TIMEOUT_MS };
  // The types promise a text always; with a timeout there may be none.
  const patch: string | undefined = createTwoFilesPatch(
    oldName,
    `b/${path}`,
    oldText,
    newText,
    undefined,
    undefined,
    options,
  );
  if (patch === undefined) return undefined;
  return boundDiff(patch.replace(/^=+\n/u, ''));
}
