import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { startMessagesServer } from '../support/messages-server';
import { removeTempDirectories } from '../support/temp-directory';
import type { CliBench } from './support/cli-bench';
import { createCliBench } from './support/cli-bench';

let bench: CliBench;

beforeAll(async () => {
  bench = await createCliBench();
});

afterAll(async () => {
  await bench.tearDown();
  await removeTempDirectories();
});

test('demo without a key → says that a recording plays, repairs the project step by step, tells what is left running', async () => {
  const { code, stdout, stderr } = await bench.run(['demo']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^This is a demo: a recorded model plays, no AI is called\. .*ANTHROPIC_API_KEY/);
  expect(stderr).toMatch(
    /✓ 1\.1 {2}list_files.*✗ 2\.1 {2}bash {7}node --test.*exit 1.*3\.1 {2}edit_file.*✓ 4\.1 {2}bash {7}node --test/s,
  );
  expect(stderr).toContain('-  const fraction = coupon.percent / 100;');
  expect(stderr).toContain('+  return cents - percentOf(cents, coupon.percent);');
  expect(stderr).toMatch(/done · 5 turns · \d+,\d+ tokens in, \d+ out/);
  expect(stderr).toMatch(
    /web UI: http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/demo-\w+\/[0-9a-f-]+\/history/,
  );
  expect(stderr).toMatch(/again: surehand show demo-\w+\n {2}stop what is left running: surehand down\n$/);
  expect(stdout).toMatch(/^Fixed: a 10 % coupon now takes off 10 %, and all 6 tests pass\./);
  const [name = ''] = readdirSync(path.join(bench.home, 'demo'));
  // The project that it leaves really works.
  execFileSync(process.execPath, ['--test'], { cwd: path.join(bench.home, 'demo', name, 'corner-shop') });
});

test('demo without a sandbox → says so and does its job all the same', async () => {
  const { code, stdout, stderr } = await bench.run(['demo'], { env: { SUREHAND_BWRAP: '/nonexistent/bwrap' } });
  expect(stderr).toMatch(/sandbox does not hold .* run without it/);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Fixed: /)]);
});

test('demo with a key → the real model gets the task; a refused key is exit 3', async () => {
  const server = await startMessagesServer(() => ({
    status: 401,
    body: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
  }));
  const env = { ANTHROPIC_API_KEY: 'sk-wrong-key', ANTHROPIC_BASE_URL: server.url };
  const { code, stdout, stderr } = await bench.run(['demo'], { env });
  expect(stderr).toMatch(/^This is the demo with the real model claude-sonnet-5-5/);
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toMatch(/unauthenticated · 0 turns/);
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]!.text).toContain('One test of this project fails');
  expect(stderr).not.toContain('sk-wrong-key');
  await server.close();
});
