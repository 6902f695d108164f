/** Entry of the daemon's process. Started by `ensureDaemon`, which hands over the options on stdin. */
import { once } from 'node:events';
import { secretsInEnv } from '../config-secrets';
import { createRedactor } from '../redactor';
import { runDaemon } from './daemon';
import { daemonOptionsSchema } from './daemon-options';
import type { DaemonOptions } from './daemon-options';
import { createLogger } from './logger';
import type { DaemonLog } from './logger';
import { openRotatingFile } from './rotating-file';
import { openStateDirectory } from './state-directory';

const EXIT_FAILED = 1;

async function main(): Promise<void> {
  const stopRequested = new Promise<string>((resolve) => {
    process.on('SIGTERM', () => resolve('asked to stop (SIGTERM)'));
    process.on('SIGINT', () => resolve('asked to stop (SIGINT)'));
  });
  try {
    const options = daemonOptionsSchema.parse(JSON.parse(await readStdin()));
    process.exitCode = await runDaemon(options, stopRequested, openLog(options));
  } catch (error) {
    // The state directory may be what is wrong.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stdout.write(`${new Date().toISOString()} ${text}\n`);
    process.exitCode = EXIT_FAILED;
  }
  // Whatever still holds the event loop must not keep the lock.
  process.exit();
}

function openLog({ home, env }: DaemonOptions): DaemonLog {
  const file = openRotatingFile(openStateDirectory(home).daemonEntries);
  const redact = createRedactor(secretsInEnv(env));
  const logger = createLogger({ source: 'daemon', redact, write: (line) => file.write(line) });
  return (text, level = 'info') => logger.log(level, text);
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  process.stdin.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(process.stdin, 'end');
  return Buffer.concat(chunks).toString('utf8');
}

void main();
