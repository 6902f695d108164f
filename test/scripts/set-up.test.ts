import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runModule } from './checkout-bench';

test.each([
  [{ version: '20.19.0' }, ''],
  [{ version: '24.1.0', arch: 'arm64' }, ''],
  [{ version: '20.18.3' }, 'Node 20.19.0 or newer is needed; this is 20.18.3.'],
  [{ version: '9.99.0' }, 'Node 20.19.0 or newer is needed; this is 9.99.0.'],
  [{ platform: 'darwin' }, 'surehand runs on Linux, x64 or arm64; this is darwin x64.'],
  [{ arch: 'ia32' }, 'surehand runs on Linux, x64 or arm64; this is linux ia32.'],
])('machine %j → says "%s"', async (machine, message) => {
  const given = { version: '22.0.0', platform: 'linux', arch: 'x64', ...machine };
  const { code, stderr } = await runModule(
    `const { checkMachine } = await load('lib/requirements.mjs');
    const { runMain } = await load('lib/say.mjs');
    await runMain(() => checkMachine(${JSON.stringify(given)}));`,
  );
  expect(code).toBe(message === '' ? 0 : 2);
  expect(stderr.split('\n')[0]).toBe(message === '' ? '' : `surehand: ${message}`);
});

describe('installed dependencies', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'surehand-deps-'));
    mkdirSync(path.join(root, 'node_modules'));
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const wanted = {
    '': { name: 'x' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  };

  test.each([
    ['the same', { 'node_modules/a': { version: '1.0.0' } }, true],
    ['another version', { 'node_modules/a': { version: '0.9.0' } }, false],
    ['one missing', {}, false],
    ['an interrupted installation', undefined, false],
  ])('%s → counts as installed: %s', async (_name, installed, expected) => {
    writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ packages: wanted }));
    if (installed !== undefined) {
      writeFileSync(path.join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }));
    }
    const { stdout } = await runModule(
      `const { dependenciesAreInstalled } = await load('lib/dependencies.mjs');
      process.stdout.write(String(dependenciesAreInstalled(${JSON.stringify(root)})));`,
    );
    expect(stdout).toBe(String(expected));
  });
});

test.each([
  [
    { numPassedTests: 12, numFailedTests: 0, numRuntimeErrorTestSuites: 0, numPendingTests: 0, numTodoTests: 0 },
    '12 passed, 0 failed',
    0,
  ],
  [
    { numPassedTests: 3, numFailedTests: 1, numRuntimeErrorTestSuites: 2, numPendingTests: 0, numTodoTests: 0 },
    '3 passed, 3 failed',
    1,
  ],
  [
    { numPassedTests: 3, numFailedTests: 0, numRuntimeErrorTestSuites: 0, numPendingTests: 1, numTodoTests: 1 },
    '3 passed, 0 failed, 2 skipped',
    0,
  ],
  [
    { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0, numPendingTests: 0, numTodoTests: 0 },
    '0 passed, 0 failed',
    1,
  ],
])('jest reports %j → the closing line is "%s" and the exit code %i', async (report, line, code) => {
  const { stdout } = await runModule(
    `const { closingLine, exitCodeOf, jestTotals } = await load('test.mjs');
    const totals = jestTotals(${JSON.stringify(report)});
    process.stdout.write(closingLine(totals) + ' → ' + exitCodeOf(totals));`,
  );
  expect(stdout).toBe(`${line} → ${code}`);
});
