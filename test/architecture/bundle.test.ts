import { join, relative } from 'node:path';
import { bundleWorkflowCode, type BundleOptions } from '@temporalio/worker';
import { REPOSITORY } from './read-sources';

/** Each cached workflow parses the whole bundle: zod alone would add 600 KB. Raise a budget on purpose only. */
const CODE_BUDGET_BYTES = 680_000;
const BUDGET_WITH_SOURCE_MAP_BYTES = 2_200_000;

/** webpack takes seconds, and much longer on a busy machine. */
const BUNDLING_TIMEOUT_MS = 180_000;

const ALLOWED = [
  /^src\/(workflows|conversation)\//,
  /^src\/contract\/(?!.*-schema\.ts$)/,
  /^node_modules\/(@temporalio\/(workflow|common)|nexus-rpc|long|ms)\//,
];

interface Bundle {
  readonly code: string;
  /** Paths from the repository's root, e.g. `src/workflows/agent.ts`. */
  readonly modules: readonly string[];
}

type WebpackConfig = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];
type WebpackPlugin = NonNullable<WebpackConfig['plugins']>[number];

async function bundle(workflowsPath: string): Promise<Bundle> {
  const modules: string[] = [];
  const listModules: WebpackPlugin = (compiler) => {
    compiler.hooks.done.tap('list-modules', ({ compilation }) => {
      for (const module of compilation.modules) modules.push(module.nameForCondition() ?? module.identifier());
    });
  };
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    logger,
    webpackConfigHook: (config) => ({ ...config, plugins: [...(config.plugins ?? []), listModules] }),
  });
  return {
    code,
    modules: modules.filter((name) => !/^(ignored\||webpack\/runtime\/)/.test(name)).map(toRepositoryPath),
  };
}

function toRepositoryPath(name: string): string {
  return name.startsWith('/') ? relative(REPOSITORY, name) : name;
}

function foreignModules(modules: readonly string[]): string[] {
  return modules.filter((module) => !ALLOWED.some((allowed) => allowed.test(module)));
}

const silent = () => undefined;
const logger = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent };

describe('the workflow bundle', () => {
  let built: Bundle;
  beforeAll(async () => {
    built = await bundle(join(REPOSITORY, 'src/workflows/agent.ts'));
  }, BUNDLING_TIMEOUT_MS);

  test('holds the loop, the pure rules and the SDK', () => {
    expect(built.modules).toEqual(
      expect.arrayContaining([
        'src/workflows/agent.ts',
        'src/conversation/decide.ts',
        'node_modules/@temporalio/workflow/lib/index.js',
      ]),
    );
  });

  test('holds nothing else: no zod, no vendor SDK, no Node module, no model, tools or config', () => {
    expect(foreignModules(built.modules)).toEqual([]);
  });

  test('weighs less than its budgets', () => {
    const code = built.code.slice(0, built.code.indexOf('//# sourceMappingURL='));
    expect(code.length).toBeGreaterThan(100_000);
    expect(Buffer.byteLength(code)).toBeLessThan(CODE_BUDGET_BYTES);
    expect(Buffer.byteLength(built.code)).toBeLessThan(BUDGET_WITH_SOURCE_MAP_BYTES);
  });

  test(
    'a workflow that imports zod is caught, by its modules and by its weight',
    async () => {
      const withZod = await bundle(join(__dirname, 'fixtures/workflow-with-zod.ts'));
      expect(foreignModules(withZod.modules)).toContain('node_modules/zod/index.js');
      expect(withZod.code.length).toBeGreaterThan(BUDGET_WITH_SOURCE_MAP_BYTES);
    },
    BUNDLING_TIMEOUT_MS,
  );
});
