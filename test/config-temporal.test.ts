import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ConfigError } from '../src/config';
import { readTemporal } from '../src/config-temporal';
import { CERTIFICATE, KEY, OTHER_KEY } from './support/tls-files';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'surehand-connect-'));
  const files = {
    'ca.pem': CERTIFICATE,
    'crt.pem': CERTIFICATE,
    'key.pem': KEY,
    'other-key.pem': OTHER_KEY,
    'garbage.pem': 'sk-secret-garbage',
    'temporal.toml': [
      '[profile.default]',
      'address = "default.example:7233"',
      '[profile.team]',
      'address = "team.example:7233"',
      'namespace = "agents"',
      'api_key = "key-of-the-team"',
      '[profile.team.grpc_meta]',
      'x-team = "blue"',
      '[profile.mutual]',
      'address = "mutual.example:7233"',
      '[profile.mutual.tls]',
      'server_name = "temporal.internal"',
      `server_ca_cert_path = "${path.join(directory, 'ca.pem')}"`,
      `client_cert_path = "${path.join(directory, 'crt.pem')}"`,
      `client_key_path = "${path.join(directory, 'key.pem')}"`,
      '[profile.nowhere]',
      'namespace = "x"',
    ].join('\n'),
    'broken.toml': '[profile.default]\napi_key = "sk-secret-key\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text);
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

const file = (name: string): string => path.join(directory, name);
const profile = (name: string) => ({ TEMPORAL_CONFIG_FILE: file('temporal.toml'), TEMPORAL_PROFILE: name });

describe('where Temporal is', () => {
  test('nothing in the environment → the local server, although a home has a temporal.toml', () => {
    expect(readTemporal({ HOME: directory })).toEqual({ mode: 'embedded' });
  });

  test('a file alone → its default profile; TEMPORAL_PROFILE → another one, with key, namespace and headers', () => {
    expect(readTemporal({ TEMPORAL_CONFIG_FILE: file('temporal.toml') })).toEqual({
      mode: 'server',
      target: { address: 'default.example:7233', namespace: 'default' },
    });
    expect(readTemporal(profile('team'))).toEqual({
      mode: 'server',
      target: {
        address: 'team.example:7233',
        namespace: 'agents',
        apiKey: 'key-of-the-team',
        tls: true,
        metadata: { 'x-team': 'blue' },
      },
    });
  });

  test('variables win over the profile', () => {
    const env = {
      ...profile('team'),
      TEMPORAL_ADDRESS: 'other.example:1',
      TEMPORAL_NAMESPACE: 'mine',
      TEMPORAL_TLS: 'false',
    };
    expect(readTemporal(env)).toMatchObject({ target: { address: 'other.example:1', namespace: 'mine', tls: false } });
  });

  test('mutual TLS: name, CA, certificate and key, from files or from variables', () => {
    const target = {
      address: 'mutual.example:7233',
      namespace: 'default',
      tls: {
        serverName: 'temporal.internal',
        serverRootCa: Buffer.from(CERTIFICATE),
        clientCertificate: { crt: Buffer.from(CERTIFICATE), key: Buffer.from(KEY) },
      },
    };
    expect(readTemporal(profile('mutual'))).toEqual({ mode: 'server', target });
    expect(
      readTemporal({
        TEMPORAL_ADDRESS: 'mutual.example:7233',
        TEMPORAL_TLS_SERVER_NAME: 'temporal.internal',
        TEMPORAL_TLS_SERVER_CA_CERT_DATA: CERTIFICATE,
        TEMPORAL_TLS_CLIENT_CERT_DATA: CERTIFICATE,
        TEMPORAL_TLS_CLIENT_KEY_DATA: KEY,
      }),
    ).toEqual({ mode: 'server', target });
  });
});

describe('a configuration that cannot be used is one sentence that names its place', () => {
  const at = { TEMPORAL_ADDRESS: '127.0.0.1:7233' };
  test.each<[string, () => Readonly<Record<string, string>>, RegExp]>([
    [
      'a profile that is not there',
      () => profile('nope'),
      /^TEMPORAL_PROFILE is "nope", but .*temporal\.toml has no such profile\. Correct or unset it\.$/,
    ],
    [
      'a profile and no file',
      () => ({ TEMPORAL_PROFILE: 'nope', HOME: directory }),
      /^TEMPORAL_PROFILE is "nope", but the usual temporal\.toml has no such profile/,
    ],
    ['a profile without address', () => profile('nowhere'), /has no address\. Set TEMPORAL_ADDRESS/],
    [
      'a file that is not there',
      () => ({ TEMPORAL_CONFIG_FILE: file('none.toml') }),
      /^TEMPORAL_CONFIG_FILE is ".*none\.toml", which does not exist/,
    ],
    ['a directory as file', () => ({ TEMPORAL_CONFIG_FILE: directory }), /cannot be read \(EISDIR\)/],
    [
      'a file that is no TOML',
      () => ({ TEMPORAL_CONFIG_FILE: file('broken.toml') }),
      /not usable: Invalid TOML.*broken\.toml\.$/,
    ],
    [
      'an address without port',
      () => ({ TEMPORAL_ADDRESS: 'temporal' }),
      /^TEMPORAL_ADDRESS is "temporal"; it must be HOST:PORT/,
    ],
    [
      'TLS that is neither on nor off',
      () => ({ ...at, TEMPORAL_TLS: 'yes' }),
      /^TEMPORAL_TLS is "yes"; it must be true or false\.$/,
    ],
    [
      'a CA file that is not there',
      () => ({ ...at, TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('none.pem') }),
      /^The CA certificate of the Temporal server \(.*none\.pem\) cannot be read \(ENOENT\)\.$/,
    ],
    [
      'a CA that is no certificate',
      () => ({ ...at, TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('garbage.pem') }),
      /CA certificate .*garbage\.pem\) is not usable: it must be PEM/,
    ],
    [
      'a key that is no key',
      () => ({
        ...at,
        TEMPORAL_TLS_CLIENT_CERT_PATH: file('crt.pem'),
        TEMPORAL_TLS_CLIENT_KEY_PATH: file('garbage.pem'),
      }),
      /^The client key for Temporal .*garbage\.pem\) is not usable/,
    ],
    [
      'a certificate alone',
      () => ({ ...at, TEMPORAL_TLS_CLIENT_CERT_PATH: file('crt.pem') }),
      /client certificate alone.*Set TEMPORAL_TLS_CLIENT_KEY_PATH/,
    ],
    [
      'a key alone',
      () => ({ ...at, TEMPORAL_TLS_CLIENT_KEY_PATH: file('key.pem') }),
      /client key alone.*Set TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
    [
      'a key of another certificate',
      () => ({
        ...at,
        TEMPORAL_TLS_CLIENT_CERT_PATH: file('crt.pem'),
        TEMPORAL_TLS_CLIENT_KEY_PATH: file('other-key.pem'),
      }),
      /do not belong together\.$/,
    ],
    [
      'a certificate twice',
      () => ({ ...at, TEMPORAL_TLS_CLIENT_CERT_PATH: 'x', TEMPORAL_TLS_CLIENT_CERT_DATA: 'y' }),
      /not usable: Cannot specify both/,
    ],
  ])('%s', (_name, env, message) => {
    const read = (): unknown => readTemporal(env());
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
    // No message quotes what stands in a file.
    expect(read).not.toThrow(/sk-secret/);
  });
});
