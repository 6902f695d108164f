/**
 * A tool of one's own that only reads: how many lines the files have that match a pattern.
 * In your settings file: { "tools": ["/path/to/count-lines.mjs"] }, or: surehand worker --tools ./count-lines.mjs
 */
export default ({ defineTool, z }) =>
  defineTool({
    name: 'count_lines',
    description:
      'Counts the lines of all files of the workspace that match a glob pattern, and names the longest ones.',
    input: z.object({
      pattern: z.string().describe('Glob pattern, for example src/**/*.ts'),
      longest: z.int().min(1).max(50).optional().describe('How many of the longest files to name. Default 3.'),
    }),
    effect: 'read',
    summary: ({ pattern }) => pattern,
    execute: async ({ pattern, longest = 3 }, { files, search, signal, progress }) => {
      const found = await search.glob({ pattern, maxResults: 2000 }, signal);
      const counts = [];
      for (const path of found.paths) {
        signal.throwIfAborted();
        const { bytes } = await files.read(path, { maxBytes: 1_000_000 });
        counts.push({ path, lines: bytes.filter((byte) => byte === 10).length });
        progress(`${counts.length} of ${found.paths.length} files`);
      }
      const total = counts.reduce((sum, { lines }) => sum + lines, 0);
      const top = counts.sort((a, b) => b.lines - a.lines).slice(0, longest);
      return [`${total} lines in ${counts.length} files`, ...top.map(({ path, lines }) => `${lines}\t${path}`)].join(
        '\n',
      );
    },
  });
