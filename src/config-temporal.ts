import { X509Certificate, createPrivateKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { loadClientConfigProfile } from '@temporalio/envconfig';
import type { ClientConfigProfile } from '@temporalio/envconfig';
import { DEFAULTS } from './config-schema';
import { ConfigError, codeOf } from './config-value';
import type { Env } from './config-value';
import type { TemporalTarget, TlsFiles } from './temporal/connection';

export type TemporalSetting =
  { readonly mode: 'embedded' } | { readonly mode: 'server'; readonly target: TemporalTarget };

/**
 * A server is used when the environment names one: an address, a profile, or a configuration file. A `temporal.toml`
 * that merely lies in its usual place does not turn a first try into a run on a team's cluster.
 */
export function readTemporal(env: Env): TemporalSetting {
  if (!['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'].some((name) => Boolean(env[name]))) {
    return { mode: 'embedded' };
  }
  const profile = readProfile(env);
  if (profile.address === undefined) {
    throw new ConfigError('The profile of the Temporal client has no address. Set TEMPORAL_ADDRESS to HOST:PORT.');
  }
  const tls = readTls(profile);
  return {
    mode: 'server',
    target: {
      address: checkedAddress(profile.address),
      namespace: profile.namespace ?? DEFAULTS.namespace,
      ...(profile.apiKey === undefined ? {} : { apiKey: profile.apiKey }),
      ...(tls === undefined ? {} : { tls }),
      ...(profile.grpcMeta === undefined ? {} : { metadata: profile.grpcMeta }),
    },
  };
}

/** The profile after the variables, which win over the file. @throws ConfigError */
function readProfile(env: Env): ClientConfigProfile {
  const given = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const file = env['TEMPORAL_CONFIG_FILE'];
  if (file && !existsSync(file)) {
    throw new ConfigError(`TEMPORAL_CONFIG_FILE is "${file}", which does not exist. Correct or unset it.`);
  }
  // Any other word would switch TLS off without a sound.
  if (env['TEMPORAL_TLS'] && !/^(true|false|1|0)$/i.test(env['TEMPORAL_TLS'])) {
    throw new ConfigError(`TEMPORAL_TLS is "${env['TEMPORAL_TLS']}"; it must be true or false.`);
  }
  try {
    return loadClientConfigProfile({ overrideEnvVars: Object.fromEntries(given) });
  } catch (error) {
    throw new ConfigError(unusable(env, error), { cause: error });
  }
}

function unusable(env: Env, error: unknown): string {
  const profile = env['TEMPORAL_PROFILE'];
  const where = env['TEMPORAL_CONFIG_FILE'] || 'the usual temporal.toml';
  // A parser's message quotes the lines around the error, which may hold a key.
  const why = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  if (profile && why.includes('not found')) {
    return `TEMPORAL_PROFILE is "${profile}", but ${where} has no such profile. Correct or unset it.`;
  }
  const code = codeOf(error);
  if (/^E[A-Z]+$/.test(code)) return `The Temporal configuration ${where} cannot be read (${code}).`;
  return `The configuration of the Temporal client is not usable: ${why}. Look at TEMPORAL_* and ${where}.`;
}

function checkedAddress(address: string): string {
  if (/^[^\s/]+:\d{1,5}$/.test(address)) return address;
  throw new ConfigError(`TEMPORAL_ADDRESS is "${address}"; it must be HOST:PORT, for example 127.0.0.1:7233.`);
}

function readTls({ tls, apiKey }: ClientConfigProfile): boolean | TlsFiles | undefined {
  if (tls === undefined) return apiKey === undefined ? undefined : true;
  if (tls.disabled === true) return false;
  const ca = readPem(tls.serverCACert, 'The CA certificate of the Temporal server', isCertificate);
  const crt = readPem(tls.clientCert, 'The client certificate for Temporal', isCertificate);
  const key = readPem(tls.clientKey, 'The client key for Temporal', createPrivateKey);
  if ((crt === undefined) !== (key === undefined)) {
    const [has, lacks] = crt === undefined ? ['key', 'CERT'] : ['certificate', 'KEY'];
    throw new ConfigError(
      `TLS for Temporal has a client ${has} alone; mutual TLS needs both. Set TEMPORAL_TLS_CLIENT_${lacks}_PATH.`,
    );
  }
  if (crt !== undefined && key !== undefined && !new X509Certificate(crt).checkPrivateKey(createPrivateKey(key))) {
    throw new ConfigError('The client certificate and the client key for Temporal do not belong together.');
  }
  return {
    ...(tls.serverName === undefined ? {} : { serverName: tls.serverName }),
    ...(ca === undefined ? {} : { serverRootCa: ca }),
    ...(crt === undefined || key === undefined ? {} : { clientCertificate: { crt, key } }),
  };
}

function isCertificate(pem: Buffer): void {
  new X509Certificate(pem);
}

/** PEM from a file or from the variable itself; one that gRPC could not use is found here, where its name is known. */
function readPem(
  source: { path: string } | { data: string | Uint8Array } | undefined,
  what: string,
  check: (pem: Buffer) => unknown,
): Buffer | undefined {
  if (source === undefined) return undefined;
  const where = 'path' in source ? ` (${source.path})` : '';
  let pem: Buffer;
  try {
    pem = 'data' in source ? Buffer.from(source.data) : readFileSync(source.path);
  } catch (error) {
    throw new ConfigError(`${what}${where} cannot be read (${codeOf(error)}).`, { cause: error });
  }
  try {
    check(pem);
  } catch (error) {
    throw new ConfigError(`${what}${where} is not usable: it must be PEM, without a passphrase.`, { cause: error });
  }
  return pem;
}
