import { existsSync } from 'node:fs';
import path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { runInput } from '../support/run-input';
import { scripted } from '../support/scripts';
import { createGate } from '../support/gate';
import { success, testToolbox } from '../support/test-toolbox';
import { startTestWorker, type TestWorker } from '../support/test-worker';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser: Browser;
let worker: TestWorker;
const blocked = createGate();
const running = createGate();

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: findChromium(), args: FLAGS });
  const readSlow = async () => {
    running.open();
    await blocked.opened;
    return success('slow');
  };
  worker = await startTestWorker({ toolbox: testToolbox({ readSlow }) });
}, 60_000);

afterAll(async () => {
  blocked.open();
  await browser.close();
  await worker.stop();
});

function findChromium(): string {
  const directories = ['/usr/bin', ...(process.env['PATH'] ?? '').split(path.delimiter)];
  const found = directories.map((directory) => path.join(directory, 'chromium')).find((file) => existsSync(file));
  if (found === undefined) throw new Error('Chromium is not installed (Debian: apt-get install chromium)');
  return found;
}

async function open(workflowId: string, tab: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  await page.goto(`${process.env['SUREHAND_TEST_UI'] ?? ''}/namespaces/default/workflows/${workflowId}/${tab}`);
  return page;
}

test('the run in the Web UI → its timeline reads like a log: turn, tool, on what; and what it does now', async () => {
  const model = scripted([
    { text: 'Looking.', calls: [{ name: 'read', input: { text: 'README.md' } }] },
    { calls: [{ name: 'readSlow', input: { path: 'a-slow-file' } }] },
    { text: 'Done.' },
  ]);
  const handle = await worker.start(runInput({ model, task: 'Look around' }));
  await running.opened;

  const runId = (await handle.describe()).runId;
  const page = await open(`${handle.workflowId}/${runId}`, 'timeline');
  for (const line of ['0 · prepare', '1 · model', '1 · read', '2 · readSlow']) {
    await page.getByText(line).first().waitFor({ timeout: 30_000 });
  }
  const directory = process.env['SUREHAND_SCREENSHOTS'];
  if (directory !== undefined) await page.screenshot({ path: path.join(directory, 'timeline.png') });
  await page.getByText('a-slow-file').first().waitFor({ timeout: 10_000 });
  blocked.open();
  await expect(handle.result()).resolves.toMatchObject({ outcome: 'done' });
}, 90_000);
