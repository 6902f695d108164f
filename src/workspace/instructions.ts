import type { InstructionFile } from '../contract/activity';
import { WorkspaceError } from './ports';
import type { WorkspaceFiles } from './ports';

const MAX_BYTES = 32 * 1024;
const MAX_FILE_BYTES = 4 * 1024 ** 2;

/** The workspace's own instructions, `AGENTS.md` at its top, cut to 32 KB. Nothing from outside the workspace. */
export async function readInstructions(files: WorkspaceFiles): Promise<readonly InstructionFile[]> {
  const path = 'AGENTS.md';
  try {
    const { bytes } = await files.read(path, { maxBytes: MAX_FILE_BYTES });
    if (bytes.length <= MAX_BYTES) return [{ path, text: decode(bytes), omittedBytes: 0 }];
    let end = MAX_BYTES;
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    return [{ path, text: decode(bytes.subarray(0, end)), omittedBytes: bytes.length - end }];
  } catch (error) {
    if (error instanceof WorkspaceError) return [];
    throw error;
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes);
}
