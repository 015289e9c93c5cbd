import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type Cleanup, createCleanup } from './cleanup.ts'
import { measureColdStart } from './cold-start.ts'
import { measureCrowded } from './crowd.ts'
import { startDatabase } from './database.ts'
import { machineFacts } from './machine.ts'
import { type Measured, measureRounds, startGenerator } from './measure.ts'
import { Mistake, type Options, readOptions, usage } from './options.ts'
import { savePage } from './performance-page.ts'
import { prepareProgram } from './program.ts'
import { type Figures, writeReport } from './report.ts'
import { createStage } from './stage.ts'
import { compare, judge, lookAhead, summarise } from './summary.ts'
import { chooseWorkloads, workloads } from './workloads.ts'

async function bench(options: Options, cleanup: Cleanup): Promise<Figures> {
  const program = await prepareProgram(options.program)
  const database = await startDatabase(cleanup)
  const site = { program, database, workers: options.workers, cleanup }
  const coldStart = await measureColdStart(site)

  const stage = createStage(site, options)
  const measured: Measured[] = []
  for (const workload of chooseWorkloads(options.names))
    measured.push({ workload, ...(await workload.prepare(stage)), rounds: [], remarks: [] })
  await database.watchIdling()
  const generator = startGenerator(site)
  const quiet = measured.filter(({ crowd }) => crowd === undefined)
  if (quiet.length > 0) await measureRounds(quiet, generator, options, database)
  for (const each of measured) {
    if (each.crowd === undefined) continue
    const { connections } = options
    await measureCrowded(each, each.crowd, { generator, other: startGenerator(site), connections, database })
  }

  const summaries = measured.map(summarise)
  // At a fixed rate all are asked alike, and compare by their costs and latencies only.
  const comparisons = options.rate === undefined ? compare(measured, summaries) : []
  const { seconds, rounds, connections, workers, rate } = options
  return {
    machine: machineFacts(database.version),
    run: {
      program: relative(process.cwd(), program),
      workers,
      connections,
      seconds,
      rounds,
      load: rate === undefined ? 'as fast as it is answered' : `${rate}/s`,
    },
    summaries,
    comparisons,
    coldStart,
    bars: judge(measured, { summaries, comparisons, coldStart }),
    goals: lookAhead(measured, summaries, rate),
  }
}

function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => reject(new Mistake(`stopped by ${signal}`)))
  })
}

async function run(): Promise<number> {
  const options = readOptions(
    process.argv.slice(2),
    workloads.map(({ name }) => name),
  )
  if (options.help) {
    console.log(`${usage}\n\nWorkloads: ${workloads.map(({ name, title }) => `${name} (${title})`).join(', ')}`)
    return 0
  }
  const cleanup = createCleanup()
  try {
    const figures = await Promise.race([bench(options, cleanup), interruption()])
    console.log(writeReport(figures))
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(figures, null, 2)}\n`)
    if (options.page) await savePage(figures, join(import.meta.dirname, '..', 'docs'))
    return figures.summaries.some(({ errors }) => Object.keys(errors).length > 0) ? 1 : 0
  } finally {
    await cleanup.now()
  }
}

try {
  process.exit(await run())
} catch (problem) {
  console.error(problem instanceof Mistake ? `bench: ${problem.message}` : problem)
  process.exit(1)
}
