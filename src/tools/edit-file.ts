import { z } from 'zod';
import { findMatches, fitLineEndings, lineNumbers } from './edit-match';
import type { MatchRange } from './edit-match';
import { fileDiff } from './file-diff';
import { notTextReason, oneLine, splitBom } from './file-text';
import { nearestLineHint } from './nearest-line';
import { defineTool } from './tool';

const MAX_FILE_BYTES = 20 * 1024 ** 2;
const MAX_LINES_NAMED = 20;

export const editFileTool = defineTool({
  name: 'edit_file',
  description: [
    'Replaces text in a file of the workspace. old_string must stand in the file exactly as given, spaces and',
    'indentation included, and only once, unless replace_all is true. Give enough lines around it to make it unique.',
    'Do not include the line numbers that read_file shows.',
  ].join(' '),
  schema: z.object({
    path: z.string().describe('Path of the file, relative to the workspace.'),
    old_string: z.string().describe('The text to replace, exactly as it stands in the file.'),
    new_string: z.string().describe('What to put in its place, taken literally. Empty to delete.'),
    replace_all: z.boolean().optional().describe('Replace every occurrence. Default false.'),
  }),
  effect: 'write',
  danger: 'Changes the file.',
  writes: (input) => [input.path],
  summarize: (input) => oneLine(input.path),
  run: async (input, context) => {
    const problem = inputProblem(input);
    if (problem !== undefined) return { text: problem, isError: true };
    const file = await context.files.read(input.path, { maxBytes: MAX_FILE_BYTES });
    const { bom, body } = splitBom(file.bytes);
    const notText = notTextReason(body);
    if (notText !== undefined) {
      return {
        text: `${file.path} was not changed: ${notText}. Edit it with a program that knows its encoding.`,
        isError: true,
      };
    }
    const matches = findMatches(body, Buffer.from(input.old_string));
    const refusal = matchProblem(file.path, { body, matches, input });
    if (refusal !== undefined) return { text: refusal, isError: true };
    await context.seen.beforeWrite(file.path, file.bytes);
    const changed = Buffer.concat([bom, splice(body, matches, Buffer.from(input.new_string))]);
    const written = await context.files.write(input.path, changed);
    await context.seen.wrote(written.path, changed);
    const diff = fileDiff(written.path, file.bytes, changed);
    const times = matches.length === 1 ? '1 occurrence' : `${matches.length} occurrences`;
    return {
      text: `Replaced ${times} in ${written.path}, at ${lineList(lineNumbers(body, matches))}.`,
      details: { filesChanged: [written.path], ...(diff === undefined ? {} : { diff }) },
    };
  },
});

interface EditInput {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

function inputProblem(input: EditInput): string | undefined {
  if (input.old_string === '') return 'old_string is empty. Use write_file to write a whole file.';
  if (input.old_string === input.new_string) return 'old_string and new_string are equal; there is nothing to change.';
  const broken = [input.old_string, input.new_string].some((text) => /\p{Surrogate}/u.test(text));
  return broken ? 'old_string or new_string is not valid Unicode (half of a character). Write it again.' : undefined;
}

function matchProblem(
  path: string,
  found: { readonly body: Buffer; readonly matches: readonly MatchRange[]; readonly input: EditInput },
): string | undefined {
  const { body, matches, input } = found;
  if (matches.length === 0) {
    const hint = nearestLineHint(body.toString(), input.old_string) ?? 'No line is like it.';
    return `old_string was not found in ${path}; nothing was changed. ${hint} Read the file and copy the text exactly.`;
  }
  if (matches.length === 1 || input.replace_all === true) return undefined;
  const lines = lineList(lineNumbers(body, matches));
  return [
    `old_string stands ${matches.length} times in ${path} (at ${lines}); nothing was changed.`,
    'Add lines around it to make it unique, or set replace_all.',
  ].join(' ');
}

/** Everything outside the matches stays byte for byte. */
function splice(body: Buffer, matches: readonly MatchRange[], replacement: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const match of matches) {
    parts.push(body.subarray(from, match.start), fitLineEndings(body, match, replacement));
    from = match.end;
  }
  return Buffer.concat([...parts, body.subarray(from)]);
}

function lineList(lines: readonly number[]): string {
  const named = lines.slice(0, MAX_LINES_NAMED).join(', ');
  const more = lines.length > MAX_LINES_NAMED ? `, … (${lines.length - MAX_LINES_NAMED} more)` : '';
  return `${lines.length === 1 ? 'line' : 'lines'} ${named}${more}`;
}
