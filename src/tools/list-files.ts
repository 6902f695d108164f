import { z } from 'zod';
import { fitLines } from './fit-lines';
import { oneLine } from './file-text';
import { defineTool } from './tool';
import { toVisibleText } from './visible-text';

const MAX_ENTRIES = 1000;

export const listFilesTool = defineTool({
  name: 'list_files',
  description: [
    'Lists one directory of the workspace, hidden files included: a directory ends with "/", a link with "@", a file',
    'is followed by its size in bytes. Not recursive: use glob to find files in a tree.',
  ].join(' '),
  schema: z.object({
    path: z.string().optional().describe('The directory, relative to the workspace. Default: the workspace.'),
  }),
  effect: 'read',
  summarize: (input) => oneLine(input.path ?? '.'),
  run: async (input, context) => {
    const listed = await context.files.list(input.path ?? '.', { maxEntries: MAX_ENTRIES });
    if (listed.entries.length === 0) return { text: `${listed.path} is an empty directory.` };
    const lines = listed.entries.map(({ name, kind, size }) => {
      const shown = toVisibleText(name).replaceAll('\n', String.raw`\n`);
      if (kind === 'directory') return `${shown}/`;
      if (kind === 'link') return `${shown}@`;
      return kind === 'file' ? `${shown}  ${size}` : `${shown}  (not a regular file)`;
    });
    const fitted = fitLines(lines, context.maxBytes);
    const left = listed.omitted + fitted.omitted;
    if (left === 0) return { text: fitted.lines.join('\n') };
    return {
      text: `${fitted.lines.join('\n')}\n(${left} more entries are not shown. Use glob with a narrower pattern.)`,
    };
  },
});
