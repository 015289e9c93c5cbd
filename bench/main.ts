import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type Cleanup, createCleanup } from './cleanup.ts'
import { chooseCommands, commands } from './commands.ts'
import { profileWorkload } from './flame-run.ts'
import { weigh } from './goals.ts'
import { machineFacts } from './machine.ts'
import type { Measured } from './measure.ts'
import { Mistake, type Options, readOptions, usage } from './options.ts'
import { savePage } from './performance-page.ts'
import { prepareProgram } from './program.ts'
import { type Figures, invalid, writeReport } from './report.ts'
import { measureColdStarts, measureCommands, measureMemories, measureTogether } from './sitting.ts'
import { compare, compareSizes, compareWithBare, judge, summarise } from './summary.ts'
import { chooseWorkloads, workloads } from './workloads.ts'

const root = join(import.meta.dirname, '..')

/** What can be asked for beside workloads and commands. */
const memory = { name: 'memory', title: 'memory of both services under 128 connections' }

async function bench(options: Options, cleanup: Cleanup): Promise<Figures> {
  const program = await prepareProgram(options.program)
  const house = { program, options, cleanup }
  const { coldStarts, postgres } = await measureColdStarts(house)
  const measured: Measured[] = []
  for (const group of chooseWorkloads(options.names)) measured.push(...(await measureTogether(group, house)))
  const memories = options.names.includes(memory.name) ? await measureMemories(house) : []
  const bulk = chooseCommands(options.names)
  const commands = bulk.length > 0 ? await measureCommands(bulk, house) : []

  const summaries = measured.map(summarise)
  const { seconds, rounds, connections, workers, rate, paced } = options
  // At a fixed rate all are asked alike, and compare by their costs and latencies only.
  const comparisons = rate === undefined ? compare(measured, summaries) : []
  const bareRatios = compareWithBare(measured, summaries)
  const growths = compareSizes(measured, summaries)
  return {
    machine: machineFacts(postgres),
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
