import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ConfigError, configDigest, loadConfig, workerEnv } from '../src/config';
import { secrets, secretsInEnv } from '../src/config-secrets';
import type { Env } from '../src/config';
import { CERTIFICATE } from './support/tls-files';

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
      modelWaitMs: 7_200_000,
      modelWaitUnattendedMs: 1_800_000,
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
      modelAttempts: 200,
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
    writeFileSync(ca, CERTIFICATE);
    writeFileSync(
      file,
      `[profile.team]\naddress = "t.example:1"\nnamespace = "n"\n[profile.team.tls]\nserver_ca_cert_path = "${ca}"\n`,
    );
    const { temporal } = load({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'team' });
    expect(temporal).toEqual({
      mode: 'server',
      target: { address: 't.example:1', namespace: 'n', tls: { serverRootCa: Buffer.from(CERTIFICATE) } },
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

  test('what an endpoint differs in and what a model costs → from the settings file, also for the default endpoint', () => {
    const text = JSON.stringify({
      endpoints: {
        default: { baseUrl: 'http://127.0.0.1:9', auth: 'x-api-key', caching: false },
        lab: { requireAll: true, thinking: 'drop', echoFields: ['reasoning_content'] },
      },
      prices: { 'lab-7b': { input: 0.3, output: 0.6 } },
    });
    const config = load({ ANTHROPIC_API_KEY: 'sk-main' }, text);
    expect(config.endpoints).toEqual({
      default: { baseUrl: 'http://127.0.0.1:9', apiKey: 'sk-main', auth: 'x-api-key', caching: false },
      lab: {
        baseUrl: 'https://api.anthropic.com',
        requireAll: true,
        thinking: 'drop',
        echoFields: ['reasoning_content'],
      },
    });
    expect(config.models['lab-7b']?.price).toEqual({ input: 0.3, output: 0.6, cacheRead: 0.3, cacheWrite: 0.3 });
    expect(configDigest(config)).not.toBe(configDigest(load({ ANTHROPIC_API_KEY: 'sk-main' })));
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
    ['a health port that is none', { SUREHAND_HEALTH_PORT: '70000' }, '{}', /SUREHAND_HEALTH_PORT .*at most 65535/],
    ['a health port that is no number', { SUREHAND_HEALTH_PORT: 'http' }, '{}', /SUREHAND_HEALTH_PORT \("http"\)/],
    ['a worker without slots', {}, '{"worker":{"workflowTaskSlots":1}}', /worker\.workflowTaskSlots/],
    ['a worker with too many pollers', {}, '{"worker":{"activityPollers":101}}', /worker\.activityPollers/],
    ['a bad idle time', { SUREHAND_IDLE_MS: '1s' }, '{}', /SUREHAND_IDLE_MS is "1s"/],
  ])('%s → ConfigError in one sentence that names it', (_name, env, text, message) => {
    expect(() => load(env, text)).toThrow(ConfigError);
    expect(() => load(env, text)).toThrow(message);
  });

  test('slots, pollers and the health port of a worker: the defaults, a setting, a variable, a flag', () => {
    const defaults = { workflowTaskSlots: 40, workflowTaskPollers: 10, activitySlots: 100, activityPollers: 10 };
    expect(load({}).worker).toMatchObject({ ...defaults, healthPort: 0 });
    const text = '{"worker":{"activitySlots":7,"workflowTaskPollers":3,"healthPort":8081}}';
    expect(load({}, text).worker).toMatchObject({ activitySlots: 7, workflowTaskPollers: 3, healthPort: 8081 });
    const env = { SUREHAND_SETTINGS: settings(text), SUREHAND_HEALTH_PORT: '8082' };
    expect(loadConfig(env).worker.healthPort).toBe(8082);
    expect(loadConfig(env, { healthPort: '0' }).worker.healthPort).toBe(0);
    expect(() => loadConfig(env, { healthPort: '65536' })).toThrow(/^--health-port .*at most 65535/);
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

describe('what commands may reach', () => {
  test('hosts, toolchains and names of variables → in the worker; the home is filled in', () => {
    const { worker } = load(
      {},
      '{"network": ["a.test", "*.b.test:8443"], "privateNetwork": ["m.test"], "worker": {"toolchains": ["~/t", "/opt/t"], "environment": ["X"]}}',
    );
    expect(worker).toMatchObject({
      network: ['a.test', '*.b.test:8443'],
      privateNetwork: ['m.test'],
      toolchains: [path.join(os.homedir(), 't'), '/opt/t'],
      environment: ['X'],
    });
  });

  test('nothing set → nothing; another list makes another worker', () => {
    expect(load({}).worker.network).toBeUndefined();
    expect(configDigest(load({}, '{"network": ["a.test"]}'))).not.toBe(configDigest(load({})));
  });

  test.each([
    ['{"network": ["*"]}', 'network.0'],
    ['{"network": ["https://a.test"]}', 'network.0'],
    ['{"network": "a.test"}', 'network'],
    ['{"worker": {"toolchains": ["t"]}}', 'worker.toolchains.0'],
    ['{"worker": {"environment": ["A=b"]}}', 'worker.environment.0'],
  ])('%s → refused, naming %s', (text, where) => {
    expect(() => load({}, text)).toThrow(where);
  });

  test('named variables → passed on to the embedded worker', () => {
    const config = load({ X: '1', Y: '2' }, '{"worker": {"environment": ["X"]}}');
    expect(workerEnv(config)).toMatchObject({ X: '1' });
    expect(workerEnv(config)).not.toHaveProperty('Y');
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

describe('tools of one’s own', () => {
  const file = (text: string) => {
    const tool = path.join(directory, 'tickets.js');
    writeFileSync(tool, text);
    return tool;
  };

  test('paths count from the settings file, packages are found from it, what is not there keeps its name', () => {
    const tool = file('');
    const config = load({}, JSON.stringify({ tools: ['./tickets.js', tool, 'no-such-package'] }));
    expect(config.tools).toEqual([{ name: tool, file: tool }, { name: 'no-such-package' }]);
  });

  test('a flag and SUREHAND_TOOLS add to those of the file', () => {
    const env = { SUREHAND_SETTINGS: settings('{"tools":["./a.js"]}'), SUREHAND_TOOLS: '["/srv/b.js"]' };
    const { tools } = loadConfig(env, { tools: ['/srv/c.js'] });
    expect(tools.map((module) => module.file)).toEqual([path.join(directory, 'a.js'), '/srv/b.js', '/srv/c.js']);
    expect(() => load({ SUREHAND_TOOLS: '/srv/b.js' })).toThrow(/^SUREHAND_TOOLS is not valid JSON/);
  });

  test.each(['{"tools":["./a.js"]}', '{"toolVariables":["TRACKER_TOKEN"]}'])(
    'in the file that --settings of a run names: %s → refused; the same flag of a worker may',
    (text) => {
      const named = settings(text);
      expect(() => loadConfig({}, { settingsFile: named })).toThrow(
        `The settings file ${named} names tools, which --settings of this command may not do. Name them in your own settings file, or start the worker with --tools.`,
      );
      expect(() => loadConfig({}, { settingsFile: named, forWorker: true })).not.toThrow();
    },
  );

  test('a run with --settings of its own → the worker still has the tools of the user’s own file', () => {
    const tool = file('');
    const named = path.join(directory, 'run.json');
    writeFileSync(named, '{}');
    const env = { SUREHAND_SETTINGS: settings('{"tools":["./tickets.js"],"toolVariables":["TRACKER_TOKEN"]}') };
    const config = loadConfig({ ...env, TRACKER_TOKEN: 'tracker-token' }, { settingsFile: named });
    expect(config.tools).toEqual([{ name: './tickets.js', file: tool }]);
    expect(workerEnv(config)).toMatchObject({
      SUREHAND_TOOLS: JSON.stringify([tool]),
      SUREHAND_SETTINGS: named,
      TRACKER_TOKEN: 'tracker-token',
    });
  });

  test('the embedded worker takes them from its daemon alone: a run may have changed a settings file since', () => {
    const env = { SUREHAND_SETTINGS: settings('{"tools":["./a.js"]}'), SUREHAND_EMBEDDED: '1' };
    expect(loadConfig(env).tools).toEqual([]);
    expect(loadConfig({ ...env, SUREHAND_TOOLS: '["/srv/b.js"]' }).tools).toEqual([
      { name: '/srv/b.js', file: '/srv/b.js' },
    ]);
  });

  test('a changed file makes another worker', () => {
    const text = '{"tools":["./tickets.js"]}';
    const without = configDigest(load({}));
    utimesSync(file('1'), 1, 1);
    const before = configDigest(load({}, text));
    utimesSync(file('2'), 2, 2);
    expect(new Set([without, before, configDigest(load({}, text))]).size).toBe(3);
  });
});

test.each([
  ['GITHUB_TOKEN', true],
  ['GITHUBTOKEN', true],
  ['DB_PASSWORD', true],
  ['AWS_SECRET_ACCESS_KEY', true],
  ['SIGNING_KEY_2', true],
  ['npm_config_auth_token', true],
  ['KEYBOARD', false],
  ['TOKENIZER', false],
  ['PWD', false],
  ['EDITOR', false],
])('%s in the environment is a secret: %s', (name, expected) => {
  expect(secretsInEnv({ [name]: 'value-of-eight' })).toEqual(expected ? ['value-of-eight'] : []);
});

test('the path of a file that is there is no secret, a value that only looks like a path is one', () => {
  const env = { GOOGLE_APPLICATION_CREDENTIALS: __filename, AWS_SECRET_ACCESS_KEY: '/abc+def/ghijkl' };
  expect(secretsInEnv(env)).toEqual(['/abc+def/ghijkl']);
});
