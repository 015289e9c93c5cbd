import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type Cleanup, createCleanup } from './cleanup.ts'
import { measureColdStart } from './cold-start.ts'
import { chooseCommands, commands, measureCommand } from './commands.ts'
import { measureCrowded } from './crowd.ts'
import { startDatabase } from './database.ts'
import { profileWorkload } from './flame-run.ts'
import { weigh } from './goals.ts'
import { machineFacts } from './machine.ts'
import { type Measured, measurePaced, measureRounds, startGenerator } from './measure.ts'
import { measureMemory } from './memory.ts'
import { Mistake, type Options, readOptions, usage } from './options.ts'
import { savePage } from './performance-page.ts'
import { prepareProgram } from './program.ts'
import { type Figures, invalid, writeReport } from './report.ts'
import { countRoundTrips } from './round-trips.ts'
import { createStage } from './stage.ts'
import { compare, compareSizes, compareWithBare, judge, summarise } from './summary.ts'
import { chooseWorkloads, workloads } from './workloads.ts'

const root = join(import.meta.dirname, '..')

/** What can be asked for beside workloads and commands. */
const memory = { name: 'memory', title: 'memory of both services under 128 connections' }

const memorySeconds = 5

async function bench(options: Options, cleanup: Cleanup): Promise<Figures> {
  const program = await prepareProgram(options.program)
  const database = await startDatabase(cleanup)
  const site = { program, database, workers: options.workers, cleanup }
  const coldStarts = [await measureColdStart('identity', site), await measureColdStart('payments', site)]

  const stage = createStage(site, options)
  const measured: Measured[] = []
  for (const workload of chooseWorkloads(options.names))
    measured.push({ workload, ...(await workload.prepare(stage)), rounds: [], remarks: [] })
  await database.watchIdling()
  const generator = startGenerator(site)
  const quiet = measured.filter(({ crowd }) => crowd === undefined)
  if (quiet.length > 0) await measureRounds(quiet, generator, options, database)
  if (options.rate === undefined && options.paced > 0) await measurePaced(quiet, generator, options)
  for (const each of measured) {
    if (each.crowd === undefined) continue
    const { connections } = options
    await measureCrowded(each, each.crowd, { generator, other: startGenerator(site), connections, database })
  }
  const memories = options.names.includes(memory.name) ? await measureMemory(stage, generator, memorySeconds) : []
  await countRoundTrips(quiet, site)
  const commands = []
  for (const command of chooseCommands(options.names)) commands.push(await measureCommand(command, stage))

  const summaries = measured.map(summarise)
  const { seconds, rounds, connections, workers, rate, paced } = options
  // At a fixed rate all are asked alike, and compare by their costs and latencies only.
  const comparisons = rate === undefined ? compare(measured, summaries) : []
  const bareRatios = compareWithBare(measured, summaries)
  const growths = compareSizes(measured, summaries)
  return {
    machine: machineFacts(database.version),
    run: {
      program: relative(process.cwd(), program),
      workers,
      connections,
      seconds,
      rounds,
      load: rate === undefined ? 'as fast as it is answered' : `${rate}/s`,
      'seconds at a fixed rate': rate === undefined ? paced : seconds * rounds,
    },
    summaries,
    comparisons,
    bareRatios,
    growths,
    commands,
    coldStarts,
    memories,
    bars: judge(measured, { summaries, comparisons }),
    goals: weigh({ summaries, comparisons, bareRatios, growths, coldStarts, memories, rate }),
  }
}

function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => reject(new Mistake(`stopped by ${signal}`)))
  })
}

async function run(): Promise<number> {
  const known = [...workloads, ...commands, memory]
  const options = readOptions(process.argv.slice(2), known)
  if (options.help) {
    console.log(`${usage}\n\nWorkloads: ${known.map(({ name, title }) => `${name} (${title})`).join(', ')}`)
    return 0
  }
  const cleanup = createCleanup()
  try {
    const interrupted = interruption()
    if (options.flame !== undefined) {
      const folder = join(root, '.tollgate', 'flame')
      console.log(await Promise.race([profileWorkload(options.flame, options, folder, cleanup), interrupted]))
      return 0
    }
    const figures = await Promise.race([bench(options, cleanup), interrupted])
    console.log(writeReport(figures))
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(figures, null, 2)}\n`)
    if (options.page) await savePage(figures, join(root, 'docs'))
    return invalid(figures).length > 0 ? 1 : 0
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
