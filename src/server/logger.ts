import pino from 'pino';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  /** One line. Fields that it is found by: `workflowId`, `runId`, `callId`, `activityId`. */
  log(level: LogLevel, text: string, fields?: LogFields): void;
}

export interface LoggerOptions {
  /** Which process writes, for people. */
  readonly source: string;
  readonly redact: (text: string) => string;
  /** Gets each line, a JSON object and a newline, without secrets. */
  readonly write: (line: string) => void;
}

/** One line of the daemon's. Default level: info. */
export type DaemonLog = (text: string, level?: LogLevel) => void;

/** Structured lines: `time`, `level`, `source`, `text`, and what else is known. */
export function createLogger({ source, redact, write }: LoggerOptions): Logger {
  const errors = { error: pino.stdSerializers.err, err: pino.stdSerializers.err };
  const logger = pino(
    {
      base: { source },
      level: 'debug',
      messageKey: 'text',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: errors,
    },
    { write: (line: string) => write(redact(line)) },
  );
  return {
    log: (level, text, fields = {}) => {
      logger[level]({ ...fields }, text);
    },
  };
}
