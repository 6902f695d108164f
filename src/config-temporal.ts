import { readFileSync } from 'node:fs';
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
  const given = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  let profile: ClientConfigProfile;
  try {
    profile = loadClientConfigProfile({ overrideEnvVars: Object.fromEntries(given) });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`The configuration of the Temporal client is not usable: ${why}. Look at TEMPORAL_*.`, {
      cause: error,
    });
  }
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
    },
  };
}

function checkedAddress(address: string): string {
  if (/^[^\s/]+:\d{1,5}$/.test(address)) return address;
  throw new ConfigError(`TEMPORAL_ADDRESS is "${address}"; it must be HOST:PORT, for example 127.0.0.1:7233.`);
}

function readTls({ tls, apiKey }: ClientConfigProfile): boolean | TlsFiles | undefined {
  if (tls === undefined) return apiKey === undefined ? undefined : true;
  if (tls.disabled === true) return false;
  const [ca, crt, key] = [tls.serverCACert, tls.clientCert, tls.clientKey].map(readSource);
  return {
    ...(tls.serverName === undefined ? {} : { serverName: tls.serverName }),
    ...(ca === undefined ? {} : { serverRootCa: ca }),
    ...(crt === undefined || key === undefined ? {} : { clientCertificate: { crt, key } }),
  };
}

function readSource(source: { path: string } | { data: string | Uint8Array } | undefined): Buffer | undefined {
  if (source === undefined) return undefined;
  if ('data' in source) return Buffer.from(source.data);
  try {
    return readFileSync(source.path);
  } catch (error) {
    throw new ConfigError(`The TLS file ${source.path} cannot be read (${codeOf(error)}).`, { cause: error });
  }
}
