import { areaOf, checkImports, findFolderCycles, undefinedNames } from './import-table';
import { readSources } from './read-sources';

function messages(path: string, text: string): string[] {
  return checkImports([{ path, text }]).map(({ message }) => message);
}

describe('the import table', () => {
  test('src as it stands → no import that the table does not allow', () => {
    const sources = readSources();
    expect(sources.length).toBeGreaterThan(20);
    expect(checkImports(sources)).toEqual([]);
  });

  test('src as it stands → no folders that import each other', () => {
    expect(findFolderCycles(readSources())).toEqual([]);
  });

  test('every area has a row and every row names areas that exist', () => {
    expect(undefinedNames()).toEqual([]);
  });

  test.each([
    ['contract/names', 'contract'],
    ['contract/run-input-schema', 'contract schemas'],
    ['model/anthropic/stream', 'anthropic'],
    ['model/scripted/play', 'model'],
    ['workspace/ports', 'workspace ports'],
    ['server/daemon-main', 'daemon'],
    ['server/daemon', 'server'],
    ['utils/strings', undefined],
  ])('%s → area %s', (path, area) => {
    expect(areaOf(path)).toBe(area);
  });
});

describe('an import that the table forbids is found', () => {
  test.each([
    ['contract/names.ts', "import { z } from 'zod';", "contract must not import 'zod'"],
    ['contract/names.ts', "import { x } from './run-input-schema';", "by 'import type' only"],
    ['conversation/decide.ts', "import { join } from 'node:path';", "conversation must not import 'node:path'"],
    ['conversation/decide.ts', "import { join } from 'path';", "conversation must not import 'path'"],
    ['conversation/decide.ts', "import { schema } from '../contract/run-input-schema';", 'contract schemas'],
    ['permissions/verdict.ts', "import { decide } from '../conversation/decide';", 'must not import conversation'],
    ['workflows/agent.ts', "import { z } from 'zod';", "workflows must not import 'zod'"],
    ['workflows/agent.ts', "import { x } from '@temporalio/client';", "must not import '@temporalio/client'"],
    ['workflows/agent.ts', "import { x } from '../model/port';", 'must not import model'],
    ['workflows/agent.ts', "import { callModel } from '../activities/call-model';", "activities by 'import type' only"],
    ['workflows/agent.ts', "import '../activities/call-model';", "activities by 'import type' only"],
    ['transcript/fold.ts', "import { x } from '../temporal/history';", 'must not import temporal'],
    ['tools/bash.ts', "import { readFile } from 'node:fs';", "tools must not import 'node:fs'"],
    ['tools/bash.ts', "import { readFile } from 'node:fs/promises';", "must not import 'node:fs/promises'"],
    ['tools/bash.ts', "import { x } from '../workspace/command-runner';", 'must not import workspace'],
    ['tools/bash.ts', "import { x } from '../workspace/ports';", "workspace ports by 'import type' only"],
    ['model/port.ts', "import Anthropic from '@anthropic-ai/sdk';", "model must not import '@anthropic-ai/sdk'"],
    [
      'model/scripted/play.ts',
      "import type { A } from '@anthropic-ai/sdk/resources';",
      "must not import '@anthropic-ai",
    ],
    ['model/port.ts', "import { x } from '@temporalio/common';", "model must not import '@temporalio/common'"],
    ['workspace/git.ts', "import { x } from '../model/port';", 'workspace must not import model'],
    ['server/daemon.ts', "import { x } from '../temporal/queues';", 'server must not import temporal'],
    ['activities/run-tool.ts', "import { x } from '../workflows/agent';", 'must not import workflows'],
    ['worker.ts', "import { x } from './cli/run';", 'worker must not import cli'],
    ['cli/run.ts', "import { x } from '../tools/registry';", 'cli must not import tools'],
    ['cli/run.ts', "import { agentWorkflow } from '../workflows/agent';", "workflows by 'import type' only"],
    ['client.ts', "import { x } from './worker';", 'client must not import worker'],
    ['cli/run.ts', "import { x } from '../../package.json';", 'has no place'],
    ['utils/strings.ts', '', 'has no place in the import table'],
  ])('%s: %s', (path, text, expected) => {
    expect(messages(path, text)).toEqual([expect.stringContaining(expected)]);
  });
});

describe('each way to name a module counts', () => {
  test.each([
    ["export { x } from '../model/port';"],
    ["export * from '../model/port';"],
    ["import * as model from '../model/port';"],
    ["import model = require('../model/port');"],
    ["const model = require('../model/port');"],
    ["const model = await import('../model/port');"],
    ["type M = import('../model/port').Model;"],
    ["import type { M } from '../model/port';"],
    ["import { type M } from '../model/port';"],
  ])('%s', (text) => {
    expect(messages('workflows/agent.ts', text)).toEqual([expect.stringContaining('must not import model')]);
  });

  test('a module name computed at run time is refused', () => {
    expect(messages('worker.ts', 'await import(name);')).toEqual([expect.stringContaining('computed')]);
  });
});

describe('an import that the table allows passes', () => {
  test.each([
    ['workflows/agent.ts', "import type * as activities from '../activities/index';"],
    ['workflows/agent.ts', "import { type CallModel, type RunTool } from '../activities/call-model';"],
    ['workflows/agent.ts', "export type { X } from '../activities/call-model';"],
    ['workflows/agent.ts', "type X = import('../activities/call-model').X;"],
    ['workflows/agent.ts', "import { sleep } from '@temporalio/workflow';"],
    ['transcript/decode-history.ts', "import type { History } from '@temporalio/common/lib/proto-utils';"],
    ['tools/bash.ts', "import type { CommandRunner } from '../workspace/ports'; import { z } from 'zod';"],
    ['model/anthropic/stream.ts', "import Anthropic from '@anthropic-ai/sdk'; import { x } from '../port';"],
    ['cli/run.ts', "import type { agentWorkflow } from '../workflows/agent';"],
    ['worker.ts', "import { x } from './activities/run-tool'; import { Worker } from '@temporalio/worker';"],
  ])('%s: %s', (path, text) => {
    expect(messages(path, text)).toEqual([]);
  });
});

test('two folders that import each other, even by type alone → the ring is named', () => {
  const sources = [
    { path: 'tools/a.ts', text: "import type { B } from '../workspace/b';" },
    { path: 'workspace/b.ts', text: "import type { C } from '../model/c';" },
    { path: 'model/c.ts', text: "import type { A } from '../tools/a';" },
  ];
  expect(findFolderCycles(sources)).toContain('tools → workspace → model → tools');
  expect(findFolderCycles(sources.slice(1))).toEqual([]);
});
