import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'bench/**/*.test.ts',
      'torture/**/*.test.ts',
      'tools/**/*.test.ts',
      'e2e/**/*.test.ts',
    ],
    globalSetup: ['tools/test-postgres.ts'],
    // Files share their process: each has a database of its own, and loading everything anew for every file would cost more than the tests.
    isolate: false,
    pool: 'threads',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
