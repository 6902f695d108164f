import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkRunFlags, type RunFlags } from '../../src/cli/run-request';
import { loadConfig } from '../../src/config';

const directory = mkdtempSync(path.join(os.tmpdir(), 'surehand-request-'));
const settings = path.join(directory, 'settings.json');
writeFileSync(settings, '{}');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const limitsOf = (flags: RunFlags, nobodyAnswers = false) => {
  const config = loadConfig({ SUREHAND_SETTINGS: settings, ANTHROPIC_API_KEY: 'sk-of-the-test' });
  return checkRunFlags({ workspace: directory, ...flags }, { config, nobodyAnswers }).limits;
};

test('a known model → its window, and its output limit as what a cut call may have', () => {
  expect(limitsOf({ model: 'claude-haiku-4-5' })).toEqual({
    maxTurns: 100,
    maxOutputTokens: 16_384,
    maxOutputRaised: 64_000,
    contextTokens: 200_000,
    hostWaitMs: 604_800_000,
    modelWaitMs: 7_200_000,
  });
  expect(limitsOf({ model: 'claude-sonnet-5-5' }).contextTokens).toBe(1_000_000);
});

test('a model that is not known → what the workflow takes then', () => {
  const limits = limitsOf({ model: 'lab-7b' });
  expect([limits.contextTokens, limits.maxOutputRaised]).toEqual([undefined, undefined]);
});

test('nobody answers → half an hour for the model, a quarter for the host', () => {
  expect(limitsOf({ model: 'claude-haiku-4-5' }, true)).toMatchObject({
    hostWaitMs: 900_000,
    modelWaitMs: 1_800_000,
  });
});
