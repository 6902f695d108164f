import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ConfigError, configDigest, loadConfig, secrets, workerEnv } from '../src/config';
import type { Env } from '../src/config';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'surehand-config-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function settings(text: string): string {
  const file = path.join(directory, 'settings.json');
  writeFileSync(file, text);
  return file;
}

/** A settings file of its own in every test: the machine's own must not decide. */
function load(env: Env, text = '{}') {
  return loadConfig({ SUREHAND_SETTINGS: settings(text), ...env });
}

describe('loadConfig', () => {
  test('nothing set → embedded, the documented defaults, no key', () => {
    const config = load({});
    expect(config.temporal).toEqual({ mode: 'embedded' });
    expect(config.model).toBe('claude-sonnet-5-5');
    expect(config.queuePrefix).toBe('surehand');
    expect(config.endpoint).toBe('default');
    expect(config.endpoints).toEqual({ default: { baseUrl: 'https://api.anthropic.com' } });
    expect(config.limits).toEqual({
      maxTurns: 100,
      maxOutputTokens: 16384,
      hostWaitMs: 604_800_000,
      hostWaitUnattendedMs: 900_000,
    });
    expect(config.timeouts).toEqual({
      heartbeatMs: 30_000,
      modelCallMs: 900_000,
      toolCallMs: 2_100_000,
      prepareMs: 120_000,
      scheduleToStartMs: 60_000,
      hostWaitMaxMs: 3_600_000,
      retryInitialMs: 1_000,
      retryMaxMs: 60_000,
      modelAttempts: 35,
      finishMs: 20_000,
    });
    expect(config.mode).toBe('auto');
    expect(config.worker.sandbox).toBe('strict');
    expect(path.isAbsolute(config.home)).toBe(true);
    expect(config.demoRoot).toBe(path.join(config.home, 'demo'));
    expect(config.user).toMatch(/^.+@.+$/);
  });

  test('the environment wins over the settings file, a flag over both', () => {
    const text = JSON.stringify({
      model: 'from-file',
      mode: 'ask',
      worker: { sandbox: 'strict' },
      limits: { maxTurns: 7 },
    });
    const env = { SUREHAND_SETTINGS: settings(text), SUREHAND_MODEL: 'from-env', SUREHAND_SANDBOX: 'strict' };
    const config = loadConfig(env, { sandbox: 'off' });
    expect([config.model, config.mode, config.worker.sandbox, config.limits.maxTurns]).toEqual([
      'from-env',
      'ask',
      'off',
      7,
    ]);
    expect(config.limits.maxOutputTokens).toBe(16384);
  });

  test('a settings file named by a flag wins over SUREHAND_SETTINGS', () => {
    const other = path.join(directory, 'other.json');
    writeFileSync(other, '{"model":"other"}');
    const config = loadConfig({ SUREHAND_SETTINGS: settings('{"model":"first"}') }, { settingsFile: other });
    expect([config.model, config.settingsFile]).toEqual(['other', other]);
  });

  test('SUREHAND_TIMEOUTS overrides single timeouts and leaves the others', () => {
    const { timeouts } = load(
      { SUREHAND_TIMEOUTS: '{"heartbeatMs": 2000}' },
      '{"timeouts":{"heartbeatMs":5,"finishMs":6}}',
    );
    expect([timeouts.heartbeatMs, timeouts.finishMs, timeouts.prepareMs]).toEqual([2000, 6, 120_000]);
  });

  test('a relative SUREHAND_HOME becomes absolute', () => {
    expect(load({ SUREHAND_HOME: 'state' }).home).toBe(path.resolve('state'));
  });

  test('TEMPORAL_ADDRESS → a server, with namespace and key; a key switches TLS on', () => {
    const env = {
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'team',
      TEMPORAL_API_KEY: 'key-12345678',
    };
    expect(load(env).temporal).toEqual({
      mode: 'server',
      target: { address: 'temporal.example:7233', namespace: 'team', apiKey: 'key-12345678', tls: true },
    });
    expect(load({ TEMPORAL_ADDRESS: '127.0.0.1:7233' }).temporal).toEqual({
      mode: 'server',
      target: { address: '127.0.0.1:7233', namespace: 'default' },
    });
  });

  test('a profile of a named temporal.toml is used, also its TLS files', () => {
    const file = path.join(directory, 'temporal.toml');
    const ca = path.join(directory, 'ca.pem');
    writeFileSync(ca, 'CA');
    writeFileSync(
      file,
      `[profile.team]\naddress = "t.example:1"\nnamespace = "n"\n[profile.team.tls]\nserver_ca_cert_path = "${ca}"\n`,
    );
    const { temporal } = load({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'team' });
    expect(temporal).toEqual({
      mode: 'server',
      target: { address: 't.example:1', namespace: 'n', tls: { serverRootCa: Buffer.from('CA') } },
    });
  });

  test('endpoints of the settings file take their key from the variable they name; ANTHROPIC_* makes the default one', () => {
    const text = JSON.stringify({
      endpoint: 'lab',
      endpoints: { lab: { baseUrl: 'http://127.0.0.1:9', apiKeyEnv: 'LAB_KEY' } },
    });
    const config = load(
      { LAB_KEY: 'lab-secret', ANTHROPIC_API_KEY: ' sk-main ', ANTHROPIC_BASE_URL: 'http://127.0.0.1:8' },
      text,
    );
    expect(config.endpoint).toBe('lab');
    expect(config.endpoints).toEqual({
      lab: { baseUrl: 'http://127.0.0.1:9', apiKey: 'lab-secret' },
      default: { baseUrl: 'http://127.0.0.1:8', apiKey: 'sk-main' },
    });
  });

  test.each([
    ['broken JSON', {}, '{\n  "model": "a" "b"\n}', /settings\.json is not valid JSON \(line 2\)\. Correct it/],
    ['an unknown key', {}, '{"modle":"x"}', /settings\.json is not usable: .*modle/],
    ['a limit of the wrong kind', {}, '{"limits":{"maxTurns":0}}', /limits\.maxTurns/],
    ['an endpoint that is not there', {}, '{"endpoint":"lab"}', /endpoint is "lab", but endpoints has only: default/],
    ['a bad mode', { SUREHAND_MODE: 'yolo' }, '{}', /SUREHAND_MODE \("yolo"\)/],
    ['a bad sandbox', { SUREHAND_SANDBOX: 'maybe' }, '{}', /SUREHAND_SANDBOX \("maybe"\)/],
    ['a bad base URL', { ANTHROPIC_BASE_URL: 'localhost' }, '{}', /ANTHROPIC_BASE_URL is "localhost"; it must be/],
    ['timeouts that are not JSON', { SUREHAND_TIMEOUTS: '{' }, '{}', /SUREHAND_TIMEOUTS is not valid JSON/],
    ['an unknown timeout', { SUREHAND_TIMEOUTS: '{"x":1}' }, '{}', /SUREHAND_TIMEOUTS is not usable/],
    ['a bad address', { TEMPORAL_ADDRESS: 'http://x' }, '{}', /TEMPORAL_ADDRESS is "http:\/\/x"; it must be HOST:PORT/],
    [
      'a profile that is missing',
      { TEMPORAL_PROFILE: 'nope', TEMPORAL_CONFIG_FILE: '/dev/null' },
      '{}',
      /Temporal client is not usable/,
    ],
    ['a bad idle time', { SUREHAND_IDLE_MS: '1s' }, '{}', /SUREHAND_IDLE_MS is "1s"/],
  ])('%s → ConfigError in one sentence that names it', (_name, env, text, message) => {
    expect(() => load(env, text)).toThrow(ConfigError);
    expect(() => load(env, text)).toThrow(message);
  });

  test('broken JSON: the message quotes nothing of the file', () => {
    expect(() => load({}, '{"endpoints":{"default":{"apiKey":"sk-secret"x}}}')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('sk-secret') as string }) as Error,
    );
  });

  test('a named settings file that is missing → ConfigError with its name', () => {
    expect(() => loadConfig({}, { settingsFile: path.join(directory, 'none.json') })).toThrow(
      /none\.json cannot be read \(ENOENT\)/,
    );
  });
});

describe('secrets', () => {
  test('keys of endpoints and server and variables with telling names, but nothing short', () => {
    const config = load({
      ANTHROPIC_API_KEY: 'sk-ant-123456',
      TEMPORAL_ADDRESS: 'a:1',
      TEMPORAL_API_KEY: 'temporal-key',
      GITHUB_TOKEN: 'gh-1234567',
      SHORT_TOKEN: 'abc',
      EDITOR: 'a-long-editor-name',
    });
    expect(secrets(config).sort()).toEqual(['gh-1234567', 'sk-ant-123456', 'temporal-key']);
  });
});

describe('workerEnv', () => {
  test('the worker comes to the same configuration and gets nothing it does not need', () => {
    const text = JSON.stringify({ endpoints: { lab: { apiKeyEnv: 'LAB_KEY' } } });
    const config = loadConfig(
      {
        LAB_KEY: 'lab-secret',
        ANTHROPIC_API_KEY: 'sk-main-key',
        PATH: '/bin',
        GITHUB_TOKEN: 'gh',
        SUREHAND_HOME: directory,
        TEMPORAL_NAMESPACE: 'x',
      },
      { settingsFile: settings(text), sandbox: 'off' },
    );
    const env = workerEnv(config);
    expect(env).toEqual({
      LAB_KEY: 'lab-secret',
      ANTHROPIC_API_KEY: 'sk-main-key',
      PATH: '/bin',
      SUREHAND_HOME: directory,
      SUREHAND_SETTINGS: path.join(directory, 'settings.json'),
      SUREHAND_SANDBOX: 'off',
    });
    expect(configDigest(loadConfig(env))).toBe(configDigest(config));
  });
});

describe('configDigest', () => {
  test('changes with a key and the sandbox, not with the model or the user', () => {
    const base = configDigest(load({}));
    expect(configDigest(load({ SUREHAND_MODEL: 'm', SUREHAND_USER: 'u' }))).toBe(base);
    expect(configDigest(load({ ANTHROPIC_API_KEY: 'sk-1' }))).not.toBe(base);
    expect(configDigest(load({ SUREHAND_SANDBOX: 'off' }))).not.toBe(base);
  });
});
