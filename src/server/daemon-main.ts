/** Entry of the daemon's process. Started by `ensureDaemon`, which hands over the options on stdin. */
import { once } from 'node:events';
import { runDaemon } from './daemon';
import { daemonOptionsSchema } from './daemon-options';

const EXIT_FAILED = 1;

async function main(): Promise<void> {
  const log = (line: string): void => void process.stdout.write(`${new Date().toISOString()} ${line}\n`);
  const stopRequested = new Promise<string>((resolve) => {
    process.on('SIGTERM', () => resolve('asked to stop (SIGTERM)'));
    process.on('SIGINT', () => resolve('asked to stop (SIGINT)'));
  });
  try {
    const options = daemonOptionsSchema.parse(JSON.parse(await readStdin()));
    process.exitCode = await runDaemon(options, stopRequested, log);
  } catch (error) {
    log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = EXIT_FAILED;
  }
  // Whatever still holds the event loop must not keep the lock.
  process.exit();
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  process.stdin.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(process.stdin, 'end');
  return Buffer.concat(chunks).toString('utf8');
}

void main();
