import { z } from 'zod';
import { cutEnd } from './cut-text';
import { fitLines } from './fit-lines';
import { oneLine } from './file-text';
import { defineTool } from './tool';
import { toVisibleText } from './visible-text';

const MAX_MATCHES = 500;
const MAX_LINE_BYTES = 500;

export const grepTool = defineTool({
  name: 'grep',
  description: [
    'Searches file contents of the workspace with a regular expression (ripgrep syntax, case-sensitive; (?i) at the',
    'start ignores case). Each match comes as path:line:text. Files that git ignores, binary files and .git are left out.',
  ].join(' '),
  schema: z.object({
    pattern: z.string().min(1).describe('The regular expression.'),
    path: z
      .string()
      .optional()
      .describe('File or directory to search, relative to the workspace. Default: the workspace.'),
    glob: z.string().optional().describe('Search only files that match this glob, e.g. "*.ts".'),
  }),
  effect: 'read',
  summarize: (input) => oneLine(input.path === undefined ? input.pattern : `${input.pattern} in ${input.path}`),
  run: async (input, context) => {
    const found = await context.search.grep(
      {
        pattern: input.pattern,
        maxMatches: MAX_MATCHES,
        ...(input.path === undefined ? {} : { path: input.path }),
        ...(input.glob === undefined ? {} : { glob: input.glob }),
      },
      context.signal,
    );
    const incomplete =
      found.incomplete === undefined ? [] : [`(The search may have missed something: ${found.incomplete}.)`];
    if (found.matches.length === 0) return { text: ['No matches.', ...incomplete].join('\n') };
    const lines = found.matches.map(({ path, line, text }) => `${path}:${line}:${shownLine(text)}`);
    const fitted = fitLines(lines, context.maxBytes);
    const left = found.omitted + fitted.omitted;
    const more =
      left === 0 ? [] : [`(${left} more matching lines are not shown. Use a narrower pattern, path or glob.)`];
    return { text: [...fitted.lines, ...more, ...incomplete].join('\n') };
  },
});

function shownLine(text: string): string {
  const visible = toVisibleText(text).replaceAll('\n', String.raw`\n`);
  const { text: cut, omittedBytes } = cutEnd(visible, MAX_LINE_BYTES);
  return omittedBytes === 0 ? cut : `${cut} … (${omittedBytes} more bytes in this line)`;
}
