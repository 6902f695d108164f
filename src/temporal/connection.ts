import { Client, Connection } from '@temporalio/client';
import { createDataConverter } from './data-converter';

/** Where Temporal is and how to be let in. */
export interface TemporalTarget {
  readonly address: string;
  readonly namespace: string;
  readonly apiKey?: string;
  readonly tls?: boolean | TlsFiles;
  /** Headers of every call, from the profile's `grpc_meta`. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** PEM contents for mutual TLS. */
export interface TlsFiles {
  readonly serverName?: string;
  readonly serverRootCa?: Buffer;
  readonly clientCertificate?: { readonly crt: Buffer; readonly key: Buffer };
}

export interface TemporalClient {
  readonly client: Client;
  readonly namespace: string;
  /** Call it when nothing of this client is in flight: a waiting retry on a closed channel ends the process. */
  close(): Promise<void>;
}

/** gRPC options shared by the client's and the worker's connection. */
export function connectionOptions(target: TemporalTarget): ConnectionSettings {
  const tls = target.tls === undefined && target.apiKey !== undefined ? true : target.tls;
  return {
    address: target.address,
    ...(target.apiKey === undefined ? {} : { apiKey: target.apiKey }),
    ...(target.metadata === undefined ? {} : { metadata: { ...target.metadata } }),
    // Written out when it is off: with a key the SDK would switch it on by itself.
    ...(tls === undefined ? {} : { tls: typeof tls === 'boolean' ? tls : toTlsConfig(tls) }),
  };
}

interface ConnectionSettings {
  readonly address: string;
  readonly apiKey?: string;
  readonly metadata?: Record<string, string>;
  readonly tls?: boolean | ReturnType<typeof toTlsConfig>;
}

/**
 * Connects, with a deadline. A page of history may hold many large results, so messages are not bounded here: readers
 * bound them by the page size instead.
 * @throws the gRPC error when the server cannot be reached or refuses the credentials.
 */
export async function connectClient(target: TemporalTarget, timeoutMs = 5_000): Promise<TemporalClient> {
  const connection = await Connection.connect({
    ...connectionOptions(target),
    connectTimeout: timeoutMs,
    channelArgs: { 'grpc.max_receive_message_length': -1 },
  });
  const client = new Client({ connection, namespace: target.namespace, dataConverter: createDataConverter() });
  return { client, namespace: target.namespace, close: () => connection.close() };
}

function toTlsConfig(tls: TlsFiles) {
  return {
    ...(tls.serverName === undefined ? {} : { serverNameOverride: tls.serverName }),
    ...(tls.serverRootCa === undefined ? {} : { serverRootCACertificate: tls.serverRootCa }),
    ...(tls.clientCertificate === undefined ? {} : { clientCertPair: { ...tls.clientCertificate } }),
  };
}
