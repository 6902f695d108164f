import type { Client } from '@temporalio/client';
import { connectClient, type TemporalClient, type TemporalTarget } from './connection';
import { explainConnection } from './explain-connection';

/** gRPC status codes. */
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;
const CALL_TIMEOUT_MS = 5_000;

export type ConnectionProblem = 'unauthenticated' | 'unavailable' | 'no-namespace';

/** Temporal cannot be used as it is configured; the message is for people and names what to do. */
export class TemporalConnectionError extends Error {
  override readonly name = 'TemporalConnectionError';

  constructor(
    readonly problem: ConnectionProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What `describeNamespace` answers. */
export type NamespaceDescription = Awaited<ReturnType<Client['workflowService']['describeNamespace']>>;

export interface OpenedConnection extends TemporalClient {
  readonly description: NamespaceDescription;
}

/**
 * Connects and looks whether the namespace is there, so that a wrong address, key or name is known before any work.
 * @param timeoutMs for the connection.
 * @throws TemporalConnectionError with the reason.
 */
export async function openConnection(target: TemporalTarget, timeoutMs: number): Promise<OpenedConnection> {
  let connected: TemporalClient;
  try {
    connected = await connectClient(target, timeoutMs);
  } catch (error) {
    throw await toProblem(error, target);
  }
  try {
    return { ...connected, description: await describe(connected) };
  } catch (error) {
    if (grpcStatus(error) !== NOT_FOUND) throw await toProblem(error, target);
    throw new TemporalConnectionError(
      'no-namespace',
      `The Temporal server at ${target.address} has no namespace "${target.namespace}". Create it, or correct TEMPORAL_NAMESPACE.`,
      { cause: error },
    );
  }
}

function describe({ client, namespace }: TemporalClient): Promise<NamespaceDescription> {
  return client.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
    client.workflowService.describeNamespace({ namespace }),
  );
}

async function toProblem(error: unknown, target: TemporalTarget): Promise<TemporalConnectionError> {
  const status = grpcStatus(error);
  if (status === PERMISSION_DENIED || status === UNAUTHENTICATED) {
    return new TemporalConnectionError(
      'unauthenticated',
      `Temporal at ${target.address} refused the credentials. Look at TEMPORAL_API_KEY, TEMPORAL_NAMESPACE and the TLS settings.`,
      { cause: error },
    );
  }
  const why = await explainConnection(target);
  return new TemporalConnectionError(
    'unavailable',
    `No Temporal server is reachable at ${target.address}: ${why}. Start it, or correct TEMPORAL_ADDRESS.`,
    { cause: error },
  );
}

/** Of an error or of what caused it. */
function grpcStatus(error: unknown): number | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'number') return cause.code;
  }
  return undefined;
}
