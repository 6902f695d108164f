import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelRequest } from './port';
import type { WireRequest } from './wire';

/**
 * Writes the body of a request to `<dumpDirectory>/request-<turn>-try<k>.json` (`summary-<n>-try<k>.json` for summary
 * calls), readable by the user alone. Never throws: a dump that cannot be written is a warning.
 */
export async function dumpRequest(
  request: ModelRequest,
  body: WireRequest,
  onWarning: (text: string) => void,
): Promise<void> {
  if (request.dumpDirectory === undefined) return;
  const call = request.summary === undefined ? `request-${String(request.turn)}` : `summary-${String(request.summary)}`;
  const path = join(request.dumpDirectory, `${call}-try${String(request.tryNumber)}.json`);
  try {
    await mkdir(request.dumpDirectory, { recursive: true, mode: 0o700 });
    await writeFile(path, `${JSON.stringify(body, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    onWarning(`The model request could not be written to ${path}: ${String(error)}`);
  }
}
