import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import importX from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';
import { importRestrictions } from './test/architecture/import-restrictions.mjs';

/** Files above a size limit, one by one, so that debt is visible. */
const NAMED_EXCEPTIONS = [];

const typed = ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'examples/tools/**/*.ts'];
const plain = ['scripts/**/*.mjs', 'test/**/*.mjs', 'bench/**/*.mjs', '*.mjs'];
const entryPoints = ['src/client.ts', 'src/worker.ts', 'src/server/daemon-main.ts'];
const pure = ['src/conversation/**/*.ts', 'src/permissions/**/*.ts', 'src/transcript/**/*.ts', 'src/prompts/**/*.ts'];

/** Absent from the workflow sandbox, or different on every host: a workflow that uses one fails, or cannot be replayed. */
const sandboxGlobals = [
  ...['Intl', 'console', 'process', 'Buffer', 'structuredClone', 'setInterval', 'setImmediate', 'queueMicrotask'],
  ...['crypto', 'fetch', 'performance', 'atob', 'btoa', 'Event', 'ReadableStream', 'WeakRef', 'FinalizationRegistry'],
].map((name) => ({ name, message: 'Absent from the workflow sandbox, or different on every host.' }));

const syntax = [
  { selector: 'TSEnumDeclaration', message: 'Use a union of strings.' },
  { selector: 'TSAsExpression[expression.type="TSAsExpression"]', message: 'Parse instead of casting twice.' },
  { selector: 'ExportAllDeclaration', message: 'Re-export by name.' },
  { selector: 'TSImportType', message: 'Use an import declaration.' },
];
const localeSyntax = {
  selector: 'CallExpression[callee.property.name=/^(toLocale|localeCompare)/]',
  message: "Depends on the host's locale data.",
};
const clockSyntax = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'Pure code has no clock.' },
  {
    selector: 'CallExpression[callee.object.name="Date"][callee.property.name="now"]',
    message: 'Pure code has no clock.',
  },
  {
    selector: 'CallExpression[callee.object.name="Math"][callee.property.name="random"]',
    message: 'Pure code makes no ids.',
  },
];

const sizeLimits = (lines, functionLines) => ({
  'max-lines': ['error', { max: lines, skipComments: true }],
  'max-lines-per-function': ['error', { max: functionLines, skipComments: true }],
});

export default defineConfig(
  { ignores: ['dist/', '.build/', 'coverage/', 'node_modules/', 'examples/*/', '!examples/tools/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: typed,
    extends: [js.configs.recommended, ...tseslint.configs.strictTypeChecked],
    plugins: { 'import-x': importX },
    languageOptions: { parserOptions: { project: './tsconfig.test.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      ...sizeLimits(300, 60),
      complexity: ['error', 15],
      'max-depth': ['error', 4],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...syntax],
      'import-x/no-default-export': 'error',
      'import-x/first': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      // Two of the dearest rules, for what this code base has none of: class hierarchies and enums.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Spreading a text gives its code points, which is what cutting needs.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // An abort throws its signal's reason, whatever that is.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingAny: true, allowThrowingUnknown: true }],
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
    },
  },
  ...importRestrictions(),
  {
    files: ['src/**/*.ts'],
    ignores: ['src/config.ts', ...entryPoints],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only config.ts reads the environment.' },
      ],
    },
  },
  {
    files: ['src/tools/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', { name: 'process', message: 'A tool reaches the world by its context.' }],
    },
  },
  {
    files: ['src/workflows/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...sandboxGlobals],
      'no-restricted-syntax': ['error', ...syntax, localeSyntax],
    },
  },
  {
    files: pure,
    rules: {
      'no-restricted-globals': ['error', ...sandboxGlobals],
      'no-restricted-syntax': ['error', ...syntax, localeSyntax, ...clockSyntax],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      ...sizeLimits(500, 250),
      complexity: ['error', 20],
      'no-console': 'off',
      // `expect.any()` and its like are `any`.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  // jest calls the default export of these two.
  { files: ['test/support/global-*.ts'], rules: { 'import-x/no-default-export': 'off' } },
  {
    files: plain,
    extends: [js.configs.recommended],
    languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals: nodeGlobals() },
    rules: { ...sizeLimits(300, 60), complexity: ['error', 15], eqeqeq: 'error' },
  },
  {
    files: ['*.js', 'surehand'],
    extends: [js.configs.recommended],
    languageOptions: {
      ecmaVersion: 2023,
      sourceType: 'commonjs',
      globals: { ...nodeGlobals(), __dirname: 'readonly' },
    },
  },
  ...NAMED_EXCEPTIONS,
);

/** Globals of plain Node scripts, without a package for twelve names. */
function nodeGlobals() {
  const names = ['process', 'console', 'Buffer', 'URL', 'AbortController', 'AbortSignal', 'fetch', 'performance'];
  const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate'];
  return Object.fromEntries([...names, ...timers].map((name) => [name, 'readonly']));
}
