import { type Cleanup, createCleanup } from './cleanup.ts'
import { type ColdStart, measureColdStart } from './cold-start.ts'
import { type BulkCommand, type CommandFigures, measureCommand } from './commands.ts'
import { measureCrowded } from './crowd.ts'
import { startDatabase } from './database.ts'
import { type Measured, measurePaced, measureRounds, startGenerator } from './measure.ts'
import { type Memory, measureMemory } from './memory.ts'
import type { Options } from './options.ts'
import { countRoundTrips } from './round-trips.ts'
import type { Site } from './servers.ts'
import { createStage } from './stage.ts'
import type { Workload } from './workload.ts'

/** What is the same in all sittings of a run. */
export type House = { program: string; options: Options; cleanup: Cleanup }

/** Workloads that take turns. */
export function measureTogether(workloads: readonly Workload[], house: House): Promise<Measured[]> {
  return sit(house, async (site) => {
    const { database } = site
    const { options } = house
    const stage = createStage(site, options)
    const measured: Measured[] = []
    for (const workload of workloads) measured.push({ workload, ...(await workload.prepare(stage)), rounds: [], remarks: [] })
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
    await countRoundTrips(quiet, site)
    return measured
  })
}

const memorySeconds = 5

export function measureMemories(house: House): Promise<Memory[]> {
  return sit(house, (site) => measureMemory(createStage(site, house.options), startGenerator(site), memorySeconds))
}

export function measureCommands(commands: readonly BulkCommand[], house: House): Promise<CommandFigures[]> {
  return sit(house, async (site) => {
    const stage = createStage(site, house.options)
    const figures: CommandFigures[] = []
    for (const command of commands) figures.push(await measureCommand(command, stage))
    return figures
  })
}

/** How long both services take to start, and on which PostgreSQL. */
export function measureColdStarts(house: House): Promise<{ coldStarts: ColdStart[]; postgres: string }> {
  return sit(house, async (site) => ({
    coldStarts: [await measureColdStart('identity', site), await measureColdStart('payments', site)],
    postgres: site.database.version,
  }))
}

/** With a PostgreSQL of its own, which leaves together with everything that was started on it. */
async function sit<T>({ program, options, cleanup: whole }: House, measure: (site: Site) => Promise<T>): Promise<T> {
  const cleanup = createCleanup()
  whole.later(() => cleanup.now())
  try {
    return await measure({ program, database: await startDatabase(cleanup), workers: options.workers, cleanup })
  } finally {
    await cleanup.now()
  }
}
