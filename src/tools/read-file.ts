import { z } from 'zod';
import { cutEnd } from './cut-text';
import { decodeStrict, describeBinary, oneLine, splitBom } from './file-text';
import { defineTool } from './tool';
import type { ToolOutput } from './tool';

const MAX_LINES = 2000;
const MAX_FILE_BYTES = 20 * 1024 ** 2;
/** Left over for the sentences around the lines. */
const NOTE_BYTES = 600;

export const readFileTool = defineTool({
  name: 'read_file',
  description: [
    'Reads a text file of the workspace. Each line comes as its number, a tab, and the line.',
    `At most ${MAX_LINES} lines at once; the result says how to read on with offset. Read a file before you edit it.`,
  ].join(' '),
  schema: z.object({
    path: z.string().describe('Path of the file, relative to the workspace.'),
    offset: z.int().min(1).optional().describe('First line to read, from 1. Default 1.'),
    limit: z.int().min(1).max(MAX_LINES).optional().describe(`How many lines. Default and most: ${MAX_LINES}.`),
  }),
  effect: 'read',
  summarize: (input) => oneLine(input.path),
  run: async (input, context) => {
    const file = await context.files.read(input.path, { maxBytes: MAX_FILE_BYTES });
    const { body } = splitBom(file.bytes);
    if (body.includes(0)) {
      return {
        text: `${file.path} is binary (${describeBinary(body)}, ${file.size} bytes) and is not shown.`,
        isError: true,
      };
    }
    const strict = decodeStrict(body);
    const text = strict ?? new TextDecoder('latin1').decode(body);
    const notes = strict === undefined ? ['It is not UTF-8 and is shown as Latin-1; edit_file will refuse it.'] : [];
    return renderLines(file.path, { text, notes }, { ...input, maxBytes: context.maxBytes });
  },
});

function renderLines(
  path: string,
  file: { readonly text: string; readonly notes: readonly string[] },
  window: { readonly offset?: number | undefined; readonly limit?: number | undefined; readonly maxBytes: number },
): ToolOutput {
  if (file.text === '') return { text: `${path} is empty (0 bytes).` };
  const lines = file.text.replace(/\n$/u, '').split('\n');
  const first = window.offset ?? 1;
  if (first > lines.length) {
    return { text: `${path} has ${count(lines.length, 'line')}; offset ${first} is past its end.`, isError: true };
  }
  const wanted = lines.slice(first - 1, first - 1 + (window.limit ?? MAX_LINES));
  const room = Math.max(200, window.maxBytes - NOTE_BYTES);
  const shown: string[] = [];
  let used = 0;
  for (const [index, line] of wanted.entries()) {
    const numbered = `${first + index}\t${line.replace(/\r$/u, '')}`;
    const size = Buffer.byteLength(numbered) + 1;
    if (used + size > room) break;
    shown.push(numbered);
    used += size;
  }
  if (shown.length === 0) return longLine(path, { line: wanted[0] ?? '', number: first, room });
  const last = first + shown.length - 1;
  const notes = [...file.notes];
  if (last < lines.length) {
    notes.push(`Lines ${first}-${last} of ${lines.length} are shown. Read on with offset ${last + 1}.`);
  }
  return { text: [...shown, ...notes.map((note) => `(${note})`)].join('\n') };
}

/** A line that does not fit: its beginning, and a way to the rest, since `offset` counts lines. */
function longLine(
  path: string,
  cut: { readonly line: string; readonly number: number; readonly room: number },
): ToolOutput {
  const { text, omittedBytes } = cutEnd(cut.line, cut.room);
  const shownBytes = Buffer.byteLength(text);
  const file = `'${path.replaceAll("'", String.raw`'\''`)}'`;
  const command = `sed -n '${cut.number}p' ${file} | tail -c +${shownBytes + 1} | head -c ${cut.room}`;
  const note = [
    `(Line ${cut.number} has ${shownBytes + omittedBytes} bytes; its first ${shownBytes} are shown.`,
    `The rest: bash with ${command}. The next line: offset ${cut.number + 1}.)`,
  ];
  return { text: `${cut.number}\t${text}\n${note.join(' ')}` };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
