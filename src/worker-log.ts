import {
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  type ActivityInterceptorsFactory,
  type LogLevel,
} from '@temporalio/worker';
import type { Config } from './config';
import { secrets } from './config-secrets';
import { createRedactor } from './redactor';
import { formatEntry, parseEntry } from './server/log-entry';
import { createLogger, type LogFields, type Logger } from './server/logger';
import { openRotatingFile } from './server/rotating-file';
import { openStateDirectory } from './server/state-directory';

/**
 * The worker's log, in the state directory; a worker that somebody started by hand or in a container tells it on stderr as
 * well: readable on a terminal, else as JSON.
 * @throws ServerError when the state directory cannot be used.
 */
export function openWorkerLog(config: Config): Logger {
  const file = openRotatingFile(openStateDirectory(config.home).workerEntries);
  const echo = (line: string): void => {
    const entry = process.stderr.isTTY ? parseEntry(line) : undefined;
    process.stderr.write(entry === undefined ? line : `${formatEntry(entry)}\n`);
  };
  return createLogger({
    source: 'worker',
    redact: createRedactor(secrets(config)),
    write: (line) => {
      file.write(line);
      if (!config.embeddedWorker) echo(line);
    },
  });
}

const LEVELS = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<LogLevel, string>;

/** Sends what Temporal's SDK and its core have to say into the log. Once per process. */
export function installRuntime(logger: Logger): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // On a cluster that is the way the queues are split.
      if (/^No (activities|workflows) registered, not polling/.test(message)) return;
      logger.log(LEVELS[level], message, meta);
    }),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
    shutdownSignals: ['SIGTERM', 'SIGINT'],
  });
}

/** One line for each end of an activity; its failure is told by the SDK. */
export function logActivities(logger: Logger): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        const startedAt = performance.now();
        const { activityId, attempt } = info;
        const fields: LogFields = { ...info.workflowExecution, activityId, attempt };
        try {
          return await next(input);
        } finally {
          const durationMs = Math.round(performance.now() - startedAt);
          logger.log('info', `${info.activityType} ended`, { ...fields, durationMs });
        }
      },
    },
  });
}
