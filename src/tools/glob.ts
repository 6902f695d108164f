import { z } from 'zod';
import { fitLines } from './fit-lines';
import { oneLine } from './file-text';
import { defineTool } from './tool';

const MAX_RESULTS = 1000;

export const globTool = defineTool({
  name: 'glob',
  description: [
    'Finds files of the workspace by a glob such as "src/**/*.ts" or "*.json" (a pattern without "/" matches names at',
    'any depth). Files that git ignores and .git are left out. Paths come sorted, relative to the workspace.',
  ].join(' '),
  schema: z.object({
    pattern: z.string().min(1).describe('The glob, relative to path.'),
    path: z.string().optional().describe('Directory to look in, relative to the workspace. Default: the workspace.'),
  }),
  effect: 'read',
  summarize: (input) => oneLine(input.path === undefined ? input.pattern : `${input.pattern} in ${input.path}`),
  run: async (input, context) => {
    const query = {
      pattern: input.pattern,
      maxResults: MAX_RESULTS,
      ...(input.path === undefined ? {} : { path: input.path }),
    };
    const found = await context.search.glob(query, context.signal);
    const incomplete = found.incomplete === undefined ? [] : [`(The list may be incomplete: ${found.incomplete}.)`];
    if (found.paths.length === 0) return { text: ['No files match.', ...incomplete].join('\n') };
    const fitted = fitLines(found.paths, context.maxBytes);
    const left = found.omitted + fitted.omitted;
    const more = left === 0 ? [] : [`(${left} more files match and are not shown. Use a narrower pattern or path.)`];
    return { text: [...fitted.lines, ...more, ...incomplete].join('\n') };
  },
});
