import { z } from 'zod';
import type { FileContent } from '../workspace/ports';
import { cutEnd } from './cut-text';
import { decodeStrict, describeBinary, oneLine, splitBom } from './file-text';
import { isWorkspaceError } from './is-workspace-error';
import { defineTool } from './tool';
import type { ToolContext, ToolOutput } from './tool';

const MAX_LINES = 2000;
const MAX_FILE_BYTES = 20 * 1024 ** 2;
/** Left over for the sentences around the lines. */
const NOTE_BYTES = 600;

export const readFileTool = defineTool({
  name: 'read_file',
  description: [
    'Reads a text file of the workspace. Each line comes as its number, a tab, and the line.',
    `At most ${MAX_LINES} lines at once; the result says how to read on. Read a file before you edit it.`,
  ].join(' '),
  schema: z.object({
    path: z.string().describe('Path of the file, relative to the workspace.'),
    offset: z.int().min(1).optional().describe('First line to read, from 1. Default 1.'),
    limit: z.int().min(1).max(MAX_LINES).optional().describe(`How many lines. Default and most: ${MAX_LINES}.`),
    byte: z
      .int()
      .min(1)
      .optional()
      .describe(
        'For one line that is too long to show at once: where in the line at offset to begin, in bytes from 1.',
      ),
  }),
  effect: 'read',
  summarize: (input) => oneLine(input.path),
  run: async (input, context) => {
    const file = await readAndNote(input.path, context);
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

/** What was shown, or that there was nothing, is what a later change of the file is measured against. */
async function readAndNote(path: string, context: ToolContext): Promise<FileContent> {
  try {
    const file = await context.files.read(path, { maxBytes: MAX_FILE_BYTES });
    await context.seen.saw(file.path, file.bytes);
    return file;
  } catch (error) {
    if (isWorkspaceError(error) && !(await context.files.exists(path))) {
      await context.seen.saw(await context.files.resolve(path), null);
    }
    throw error;
  }
}

interface ReadWindow {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly byte?: number | undefined;
  readonly maxBytes: number;
}

function renderLines(
  path: string,
  file: { readonly text: string; readonly notes: readonly string[] },
  window: ReadWindow,
): ToolOutput {
  if (file.text === '') return { text: `${path} is empty (0 bytes).` };
  const lines = file.text.replace(/\n$/u, '').split('\n');
  const first = window.offset ?? 1;
  if (first > lines.length) {
    return { text: `${path} has ${count(lines.length, 'line')}; offset ${first} is past its end.`, isError: true };
  }
  const room = Math.max(200, window.maxBytes - NOTE_BYTES);
  const longLine = { line: lines[first - 1] ?? '', number: first, room, isLast: first === lines.length };
  if (window.byte !== undefined) return partOfLine(path, { ...longLine, from: window.byte });
  const wanted = lines.slice(first - 1, first - 1 + (window.limit ?? MAX_LINES));
  const shown: string[] = [];
  let used = 0;
  for (const [index, line] of wanted.entries()) {
    const numbered = `${first + index}\t${line.replace(/\r$/u, '')}`;
    const size = Buffer.byteLength(numbered) + 1;
    if (used + size > room) break;
    shown.push(numbered);
    used += size;
  }
  if (shown.length === 0) return partOfLine(path, { ...longLine, from: 1 });
  const last = first + shown.length - 1;
  const notes = [...file.notes];
  if (last < lines.length) {
    notes.push(`Lines ${first}-${last} of ${lines.length} are shown. Read on with offset ${last + 1}.`);
  }
  return { text: [...shown, ...notes.map((note) => `(${note})`)].join('\n') };
}

/** A line that does not fit: as much of it as does, and the way to the rest. */
function partOfLine(path: string, part: LinePart): ToolOutput {
  const { number } = part;
  const bytes = Buffer.from(part.line.replace(/\r$/u, ''));
  if (part.from > Math.max(1, bytes.length)) {
    const text = `Line ${number} of ${path} has ${bytes.length} bytes; byte ${part.from} is past its end.`;
    return { text, isError: true };
  }
  const start = characterAt(bytes, part.from - 1);
  const { text } = cutEnd(bytes.toString('utf8', start), part.room);
  const next = 1 + start + Buffer.byteLength(text);
  const nextLine = part.isLast ? '' : ` The next line: offset ${number + 1}.`;
  const way =
    next > bytes.length ? `That is its end.${nextLine}` : `Read on with offset ${number} and byte ${next}.${nextLine}`;
  const note = `(Line ${number} has ${bytes.length} bytes; bytes ${start + 1}-${next - 1} are shown. ${way})`;
  return { text: `${number}\t${text}\n${note}` };
}

interface LinePart {
  readonly line: string;
  readonly number: number;
  /** From 1. */
  readonly from: number;
  readonly room: number;
  readonly isLast: boolean;
}

/** The first byte of a character at or after a position: half a character is no text. */
function characterAt(bytes: Buffer, position: number): number {
  let at = position;
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
