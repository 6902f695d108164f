import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';
import { findTemporal } from '../../src/server/tool-paths';
import { createNamespace } from '../support/team-namespace';

const ROOT = path.resolve(__dirname, '..', '..');
const run = promisify(execFile);
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const serviceSchema = z.object({
  image: z.string(),
  build: z.string().optional(),
  hostname: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  security_opt: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
});
// Strict here: `privileged`, `network_mode` or a misspelt key is red.
const fileSchema = z.strictObject({
  services: z.record(z.string(), serviceSchema.strict()),
  volumes: z.record(z.string(), z.null()),
});

const { services, volumes } = fileSchema.parse(parse(read('docker-compose.yml')));
const worker = services['worker'];
const dockerfile = read('Dockerfile').replace(/\\\n\s*/g, ' ');
const instructions = (name: string): string[] =>
  [...dockerfile.matchAll(new RegExp(`^${name} +(.*)$`, 'gm'))].map(([, rest = '']) => rest);

describe('docker-compose.yml', () => {
  test('has a database, a schema step, a server, a namespace step, a Web UI and a worker, each after what it needs', () => {
    const conditions = Object.fromEntries(
      Object.entries(services).map(([name, { depends_on: on = {} }]) => [
        name,
        Object.entries(on).map(([other, { condition }]) => `${other} ${condition}`),
      ]),
    );
    expect(conditions).toEqual({
      postgresql: [],
      'temporal-schema': ['postgresql service_healthy'],
      temporal: ['temporal-schema service_completed_successfully'],
      'temporal-namespace': ['temporal service_healthy'],
      'temporal-ui': ['temporal service_healthy'],
      worker: ['temporal-namespace service_completed_successfully'],
    });
  });

  test('what others wait for to be healthy, and the worker, has a health check', () => {
    const checked = Object.entries(services).filter(([, { healthcheck }]) => healthcheck !== undefined);
    expect(checked.map(([name]) => name)).toEqual(['postgresql', 'temporal', 'worker']);
  });

  test('every image is pinned; server and schema are of one version', () => {
    const images = Object.values(services).map(({ image }) => image);
    for (const image of images) expect(image).toMatch(/^[\w./-]+:\d+\.\d+[\w.-]*$/);
    const version = (name: string) => images.find((image) => image.startsWith(`temporalio/${name}:`))?.split(':')[1];
    expect(version('admin-tools')).toBe(version('server'));
  });

  test('no secret stands in it: passwords and keys come from the environment', () => {
    const secret = /PASSWORD|_PWD|_KEY|TOKEN|SECRET/;
    const given = Object.values(services).flatMap(({ environment = {} }) => Object.entries(environment));
    const secrets = given.filter(([name]) => secret.test(name));
    expect(secrets.map(([name]) => name)).toEqual([
      'POSTGRES_PASSWORD',
      'SQL_PASSWORD',
      'POSTGRES_PWD',
      'ANTHROPIC_API_KEY',
    ]);
    for (const [, value] of secrets) expect(value).toMatch(/^\$\{[A-Z_]+:[?-][^}]*\}$/);
    expect(read('docker-compose.yml')).not.toMatch(/sk-[a-z0-9]/);
  });

  test('ports are open on loopback alone', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports).toEqual(['127.0.0.1:7233:7233', '127.0.0.1:8080:8080']);
  });

  test('volumes that are used are declared, and the other way round; mounted files are there', () => {
    const sources = Object.values(services).flatMap((service) =>
      (service.volumes ?? []).map((text) => text.split(':')[0] ?? ''),
    );
    const named = sources.filter((source) => /^[\w-]+$/.test(source));
    expect([...new Set(named)].sort()).toEqual(Object.keys(volumes).sort());
    for (const source of sources.filter((text) => text.startsWith('./')))
      expect(existsSync(path.join(ROOT, source))).toBe(true);
    for (const script of Object.values(services).flatMap(({ entrypoint = [] }) => entrypoint.slice(1))) {
      expect(existsSync(path.join(ROOT, script))).toBe(true);
    }
  });

  test('the worker: a name that stays, the sandbox’s options, more time to stop than it takes', () => {
    expect(worker).toMatchObject({ build: '.', hostname: 'surehand-worker', stop_grace_period: '30s' });
    expect(worker?.security_opt).toEqual(expect.arrayContaining(['seccomp=unconfined', 'systempaths=unconfined']));
  });

  test('the worker’s variables are ones that surehand reads', () => {
    const files = readdirSync(path.join(ROOT, 'src')).filter((file) => /^config.*\.ts$/.test(file));
    const sources = files.map((file) => read(`src/${file}`)).join('');
    // Read by Temporal's own library.
    const byLibrary = ['TEMPORAL_NAMESPACE'];
    for (const name of Object.keys(worker?.environment ?? {}).filter((key) => !byLibrary.includes(key))) {
      // Said as name and answer, so that a red test does not print all the sources.
      expect([name, sources.includes(`'${name}'`)]).toEqual([name, true]);
    }
  });

  test('compose itself takes it, where one is installed', async () => {
    const composes = [['docker', 'compose'], ['docker-compose']];
    for (const [program = '', ...args] of composes) {
      const works = await run(program, [...args, 'version']).then(
        () => true,
        () => false,
      );
      if (!works) continue;
      const env = { ...process.env, POSTGRES_PASSWORD: 'of-the-test' };
      const { stdout } = await run(program, [...args, 'config'], { cwd: ROOT, env });
      expect(stdout).toContain('of-the-test');
      const { POSTGRES_PASSWORD: _, ...without } = env;
      await expect(run(program, [...args, 'config'], { cwd: ROOT, env: without })).rejects.toThrow(/POSTGRES_PASSWORD/);
    }
  });
});

describe('Dockerfile', () => {
  test('stages come from one pinned image; what is copied from the checkout is there and not ignored', () => {
    const images = instructions('FROM').map((text) => text.split(' ')[0]);
    expect(new Set(images)).toEqual(new Set([expect.stringMatching(/^node:20\.\d+\.\d+-bookworm-slim$/)]));
    expect(images.length).toBeGreaterThan(1);
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = instructions('COPY')
      .filter((text) => !text.startsWith('--from'))
      .flatMap((text) => text.split(' ').slice(0, -1));
    expect(copied).toEqual(
      expect.arrayContaining(['package.json', 'package-lock.json', 'src/', 'scripts/', 'tsconfig.json']),
    );
    for (const source of copied) {
      expect(existsSync(path.join(ROOT, source))).toBe(true);
      expect(allowed).toContain(source);
    }
  });

  test('the last stage: production dependencies, bwrap and git, not root, a health check, reaped children', () => {
    expect(instructions('RUN').filter((text) => text.includes('npm ci'))).toEqual([
      expect.stringContaining('npm ci --ignore-scripts'),
      expect.stringContaining('npm ci --omit=dev --ignore-scripts'),
    ]);
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).toContain('COPY --from=dependencies /app/node_modules/ node_modules/');
    expect(last).toMatch(/apt-get install -y --no-install-recommends bubblewrap ca-certificates git tini /);
    expect(instructions('USER')).toEqual(['node']);
    expect(instructions('ENTRYPOINT')).toEqual(['["tini", "--", "surehand"]']);
    expect(instructions('CMD')).toEqual(['["worker"]']);
    expect(instructions('HEALTHCHECK')).toEqual([expect.stringContaining('/healthz')]);
    expect(instructions('VOLUME')).toEqual(['/state']);
  });
});

test('the namespace step, run by a real command line: a namespace of its own gets retention and attributes; doing it again changes nothing', async () => {
  const temporal = await findTemporal(process.env);
  const team = await createNamespace({ days: 1 });
  const env = {
    PATH: `${path.dirname(temporal)}:${process.env['PATH'] ?? ''}`,
    HOME: process.env['HOME'],
    TEMPORAL_ADDRESS: process.env['SUREHAND_TEST_TEMPORAL'],
    TEMPORAL_NAMESPACE: team.namespace,
  };
  for (const _ of ['first', 'again']) await run('sh', [path.join(ROOT, 'compose', 'setup-namespace.sh')], { env });
  const { namespace, client } = team;
  const { config } = await client.workflowService.describeNamespace({ namespace });
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(90 * 24 * 60 * 60);
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  // KEYWORD, INT, DOUBLE of temporal.api.enums.v1.IndexedValueType
  expect(customAttributes).toEqual({
    SurehandState: 2,
    SurehandHost: 2,
    SurehandRepo: 2,
    SurehandModel: 2,
    SurehandTurns: 3,
    SurehandCostUsd: 4,
  });
  await team.close();
});
