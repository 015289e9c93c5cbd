import { startVitest } from 'vitest/node'

/** Runs every test, or those whose file names hold one of the given words. */
const vitest = await startVitest('test', process.argv.slice(2), { run: true, watch: false })
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
