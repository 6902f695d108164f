import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TemporalTarget } from './connection';

/** A server that greets neither gRPC nor TLS within this is no Temporal server, or one that hangs. */
const WAIT_MS = 2_000;

/**
 * Why a connection to Temporal failed, as the end of a sentence: gRPC itself only says that its deadline is over. Tries
 * the name, the port and the TLS handshake once.
 */
export function explainConnection(target: TemporalTarget, waitMs = WAIT_MS): Promise<string> {
  const colon = target.address.lastIndexOf(':');
  const host = target.address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(target.address.slice(colon + 1));
  const tls = target.tls ?? target.apiKey !== undefined;
  return new Promise((resolve) => {
    let reached = false;
    const finish = (why: string): void => {
      resolve(why);
      socket.destroy();
    };
    const socket = open({ host, port, tls }, () => finish(tls === false ? PLAIN : AFTER_TLS));
    // With TLS the port answers before the handshake does.
    socket.on('connect', () => (reached = true));
    socket.setTimeout(waitMs, () => {
      finish(reached ? 'something listens there, but says nothing' : `no answer within ${String(waitMs / 1000)} s`);
    });
    socket.once('error', (error) => {
      finish(reached ? `the TLS handshake failed: ${reasonOf(error)}` : reasonOf(error));
    });
  });
}

const PLAIN = 'something listens there, but does not answer as Temporal does (does it want TLS? TEMPORAL_TLS=true)';
const AFTER_TLS = 'TLS works, but what listens there does not answer as Temporal does';

interface Way {
  readonly host: string;
  readonly port: number;
  readonly tls: NonNullable<TemporalTarget['tls']>;
}

function open({ host, port, tls }: Way, onReady: () => void): Socket {
  if (tls === false) return connectTcp({ host, port }, onReady);
  const files = tls === true ? {} : tls;
  const name = files.serverName ?? host;
  return connectTls(
    {
      host,
      port,
      ALPNProtocols: ['h2'],
      // An address is no name that TLS may send.
      ...(/^[\d.]+$|:/.test(name) ? {} : { servername: name }),
      ...(files.serverRootCa === undefined ? {} : { ca: files.serverRootCa }),
      ...(files.clientCertificate === undefined
        ? {}
        : { cert: files.clientCertificate.crt, key: files.clientCertificate.key }),
    },
    onReady,
  );
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (connection refused)',
  ENOTFOUND: 'the name cannot be resolved',
  EAI_AGAIN: 'the name cannot be resolved at the moment',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no network that leads to it',
  ECONNRESET: 'the connection was cut',
  EPROTO: 'the other side does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the other side does not speak TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed, and no CA certificate is configured',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from a CA that is not configured',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from a CA that is not configured',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return REASONS[code] ?? (code || error.message);
}
