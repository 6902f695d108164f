import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Checkout } from './checkout-bench';
import { ECHO_CLIENT, createCheckout, run } from './checkout-bench';

let checkout: Checkout;

beforeEach(() => {
  checkout = createCheckout();
});

afterEach(() => checkout.remove());

const dist = (): string => path.join(checkout.root, 'dist');
const buildId = (): string => readFileSync(path.join(dist(), 'build-id'), 'utf8').trim();

test('first build → dist is a link to a directory named by the build id; without changes nothing is built again', async () => {
  checkout.write('src/words.txt', 'an asset');
  expect(await checkout.node('scripts/build.mjs')).toMatchObject({ code: 0, stdout: '' });
  expect(buildId()).toMatch(/^[0-9a-f]{16}$/);
  expect(readlinkSync(dist())).toBe(`.build/${buildId()}`);
  expect(readFileSync(path.join(dist(), 'words.txt'), 'utf8')).toBe('an asset');
  const again = await checkout.node('scripts/build.mjs');
  expect(again.stderr).toBe(`surehand: dist is build ${buildId()}\n`);
});

test('a changed source → another build, and a process of the older one still finds its files', async () => {
  await checkout.node('scripts/build.mjs');
  const older = path.join(checkout.root, readlinkSync(dist()));
  checkout.write('src/client.ts', `${ECHO_CLIENT}// changed\n`);
  await checkout.node('scripts/build.mjs');
  expect(path.join(checkout.root, readlinkSync(dist()))).not.toBe(older);
  expect(existsSync(path.join(older, 'client.js'))).toBe(true);
  expect(readdirSync(path.join(checkout.root, '.build')).filter((name) => name.startsWith('tmp'))).toEqual([]);
});

test('a source that does not compile → exit 1 with the compiler’s message, and dist stays as it was', async () => {
  await checkout.node('scripts/build.mjs');
  const before = readlinkSync(dist());
  checkout.write('src/client.ts', 'export const x: number = "text";\n');
  const { code, stdout, stderr } = await checkout.node('scripts/build.mjs');
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/src\/client\.ts\(1,14\): error TS2322[^]*surehand: the sources do not compile \(see above\)/);
  expect(readlinkSync(dist())).toBe(before);
  expect(readdirSync(path.join(checkout.root, '.build')).filter((name) => name.startsWith('tmp'))).toEqual([]);
});

test('two builds at once → one compiles, the other waits, both end well', async () => {
  const both = await Promise.all([checkout.node('scripts/build.mjs'), checkout.node('scripts/build.mjs')]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  const said = both.map(({ stderr }) => stderr).join('');
  expect(said.match(/surehand: building/g)).toHaveLength(1);
  expect(existsSync(path.join(dist(), 'client.js'))).toBe(true);
});

test('dist is a directory that somebody compiled by hand → it is replaced', async () => {
  mkdirSync(dist());
  writeFileSync(path.join(dist(), 'old.js'), '');
  expect((await checkout.node('scripts/build.mjs')).code).toBe(0);
  expect(lstatSync(dist()).isSymbolicLink()).toBe(true);
});

test('surehand by a link from another directory → arguments and exit code get through, stdout is the client’s alone', async () => {
  const link = path.join(path.dirname(checkout.root), 'link');
  symlinkSync(path.join(checkout.root, 'surehand'), link);
  const first = await run(link, ['run', 'a task', '--json'], { cwd: '/' });
  expect(first).toMatchObject({ code: 7, stdout: '["run","a task","--json"]\n' });
  expect(first.stderr).toContain('surehand: building');
  expect(await run(link, [], { cwd: '/' })).toEqual({ code: 7, stdout: '[]\n', stderr: '' });
});

test('start without arguments → the demo; with arguments → those', async () => {
  expect(await checkout.node('scripts/start.mjs')).toMatchObject({ code: 7, stdout: '["demo"]\n' });
  expect(await checkout.node('scripts/start.mjs', 'down')).toEqual({ code: 7, stdout: '["down"]\n', stderr: '' });
});

test('a home that cannot hold the tools → exit 2 with one sentence, on stderr', async () => {
  const bare = path.join(path.dirname(checkout.root), 'bin');
  mkdirSync(bare);
  for (const tool of ['git', 'flock']) {
    symlinkSync((await run('sh', ['-c', `command -v ${tool}`])).stdout.trim(), path.join(bare, tool));
  }
  const python = (await run('python3', ['-c', 'import sys; print(sys.executable)'])).stdout.trim();
  writeFileSync(path.join(bare, 'python3'), `#!/bin/sh\nexec ${python} "$@"\n`, { mode: 0o755 });
  const env = { PATH: bare, HOME: '/dev/null/nobody' };
  const { code, stdout, stderr } = await run(process.execPath, [path.join(checkout.root, 'surehand'), 'list'], { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(
    /surehand: \/dev\/null\/nobody\/\.cache\/surehand\/tools cannot be written \(ENOTDIR\)[^]*Set HOME/,
  );
});
