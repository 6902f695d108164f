/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs', ignoreDynamic: true },
        sourceMaps: 'inline',
      },
    ],
  },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // Half of the suite waits for servers and processes: a third worker fills two cores, a fourth only makes tests slower.
  maxWorkers: 3,
  testTimeout: 60_000,
  restoreMocks: true,
  collectCoverageFrom: ['src/conversation/**/*.ts', 'src/transcript/**/*.ts', 'src/permissions/**/*.ts'],
  coverageThreshold: { './src/conversation/': { branches: 100, functions: 100, lines: 100, statements: 100 } },
};
