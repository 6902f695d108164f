import { isGrpcServiceError } from '@temporalio/client';
import { ConfigError } from '../config';
import { EXIT_CODES, EXIT_USAGE } from '../contract/outcome';
import { ServerError } from '../server/server-error';
import { TemporalConnectionError } from '../temporal/open-connection';
import { CliError } from './cli-error';
import { visibleText } from './visible-text';

/** gRPC status codes that say something about credentials or the way to the server. */
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;
const TRANSIENT = new Set([1, 4, 8, 13, 14]);

/** Any error → the sentence and the exit code that the command ends with. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ConfigError) return new CliError(EXIT_USAGE, error.message, { cause: error });
  if (error instanceof ServerError) {
    const code = error.kind === 'usage' ? EXIT_USAGE : EXIT_CODES.unavailable;
    return new CliError(code, capitalize(error.message), { cause: error });
  }
  if (error instanceof TemporalConnectionError) {
    const code = error.problem === 'no-namespace' ? EXIT_USAGE : EXIT_CODES[error.problem];
    return new CliError(code, visibleText(error.message), { cause: error });
  }
  const code = grpcCode(error);
  if (code === PERMISSION_DENIED || code === UNAUTHENTICATED) {
    const text = 'Temporal refused the credentials. Look at TEMPORAL_API_KEY, TEMPORAL_NAMESPACE and the TLS settings.';
    return new CliError(EXIT_CODES.unauthenticated, text, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  if (code !== undefined) {
    const kind = isTransient(error) ? EXIT_CODES.unavailable : EXIT_CODES.failed;
    return new CliError(kind, `Temporal answered with an error: ${visibleText(detailOf(error))}`, { cause: error });
  }
  return new CliError(EXIT_CODES.failed, `surehand itself failed, which is a bug: ${visibleText(message)}`, {
    cause: error,
  });
}

/** Whether trying again later may help: the server is away, busy, or was just restarted. */
export function isTransient(error: unknown): boolean {
  const code = grpcCode(error);
  return code !== undefined && TRANSIENT.has(code);
}

/** The gRPC status of an error or of what caused it. */
function grpcCode(error: unknown): number | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isGrpcServiceError(cause)) return cause.code;
    if ('code' in cause && typeof cause.code === 'number') return cause.code;
  }
  return undefined;
}

function detailOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isGrpcServiceError(cause)) return cause.details;
  }
  return error instanceof Error ? error.message : String(error);
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
