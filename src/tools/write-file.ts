import { z } from 'zod';
import { fileDiff } from './file-diff';
import { oneLine, splitBom } from './file-text';
import { isWorkspaceError } from './is-workspace-error';
import { defineTool } from './tool';
import type { ToolContext } from './tool';

const MAX_OLD_BYTES = 20 * 1024 ** 2;

export const writeFileTool = defineTool({
  name: 'write_file',
  description: [
    'Writes a whole file of the workspace: creates it, with its directories, or replaces all of its content.',
    'To change a part of a file use edit_file.',
  ].join(' '),
  schema: z.object({
    path: z.string().describe('Path of the file, relative to the workspace.'),
    content: z.string().describe('The complete new content. An empty string makes an empty file.'),
  }),
  effect: 'write',
  danger: 'Replaces the whole content of the file.',
  writes: (input) => [input.path],
  summarize: (input) => oneLine(input.path),
  run: async (input, context) => {
    if (/\p{Surrogate}/u.test(input.content)) {
      return { text: 'content is not valid Unicode (half of a character). Write it again.', isError: true };
    }
    const before = await oldBytes(input.path, context);
    const bom = before === undefined || input.content.startsWith('\ufeff') ? Buffer.alloc(0) : splitBom(before).bom;
    const bytes = Buffer.concat([bom, Buffer.from(input.content)]);
    await context.seen.beforeWrite(await context.files.resolve(input.path), before ?? null);
    const written = await context.files.write(input.path, bytes);
    await context.seen.wrote(written.path, bytes);
    const diff = before === undefined && !written.created ? undefined : fileDiff(written.path, before, bytes);
    return {
      text: `${written.created ? 'Created' : 'Replaced'} ${written.path} (${bytes.length} bytes).`,
      details: { filesChanged: [written.path], ...(diff === undefined ? {} : { diff }) },
    };
  },
});

/** What stands there now, for its byte order mark and the diff; the write itself says what is wrong with a path. */
async function oldBytes(path: string, context: ToolContext): Promise<Uint8Array | undefined> {
  try {
    return (await context.files.read(path, { maxBytes: MAX_OLD_BYTES })).bytes;
  } catch (error) {
    if (isWorkspaceError(error)) return undefined;
    throw error;
  }
}
