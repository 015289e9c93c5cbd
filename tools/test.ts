import { startVitest } from 'vitest/node'

/**
 * Runs every test, or those whose file names hold one of the given words. With `--nodes` every service that a test starts is three behind a
 * balancer, on a database behind a pooler in transaction mode; `--nodes=pgbouncer` takes the PgBouncer that the machine has.
 */
const words = process.argv.slice(2)
const nodes = words.find((word) => /^--nodes(=|$)/.test(word))
if (nodes) process.env.TEST_POOLER = nodes.split('=')[1] ?? 'ours'
const vitest = await startVitest(
  'test',
  words.filter((word) => word !== nodes),
  { run: true, watch: false },
)
const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()])
const broken =
  vitest.state.getUnhandledErrors().length +
  vitest.state.getTestModules().filter((module) => module.state() === 'failed' && module.errors().length > 0).length
await vitest.close()

const count = (state: string) => tests.filter((test) => test.result().state === state).length
const passed = count('passed')
const failed = count('failed') + broken
// The last line, so that a run in which nothing ran cannot pass for a good one.
console.log(`\n${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)
