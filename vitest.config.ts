import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tools/test-order.ts'

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'bench/**/*.test.ts',
      'torture/**/*.test.ts',
      'nodes/**/*.test.ts',
      'tools/**/*.test.ts',
      'e2e/**/*.test.ts',
    ],
    // On several nodes every service is three behind a balancer, with a pooler before the database.
    globalSetup: ['tools/test-postgres.ts', ...(process.env.TEST_POOLER ? ['nodes/setup.ts'] : [])],
    // Files share their process: each has a database of its own, and loading everything anew for every file would cost more than the tests.
    isolate: false,
    pool: 'threads',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
