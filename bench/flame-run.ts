import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Cleanup } from './cleanup.ts'
import { cutProfile, readProfiles, topFunctions } from './cpu-profile.ts'
import { startDatabase } from './database.ts'
import { drawFlame, writeTop } from './flame.ts'
import { startProfiling } from './inspector.ts'
import { startGenerator } from './measure.ts'
import { Mistake, type Options } from './options.ts'
import { createStage } from './stage.ts'
import { serversOf } from './workload.ts'
import { workloads } from './workloads.ts'

const root = join(import.meta.dirname, '..')

const sampleMicroseconds = 200
const shownFunctions = 25

/**
 * Profiles the servers of a workload under its load, all their processes together, and writes what V8 saw and a flame graph of it into a folder.
 * Returns a report. The servers run from the source, whose functions stand in files that can be found.
 */
export async function profileWorkload(name: string, options: Options, folder: string, cleanup: Cleanup): Promise<string> {
  const workload = workloads.find((each) => each.name === name)
  if (!workload) throw new Mistake(`${name} is no single workload with a server that could be profiled.`)
  const program = options.program ?? join(root, 'packages', 'tollgate', 'src', 'main.ts')
  const site = { program, database: await startDatabase(cleanup), workers: options.workers, cleanup, inspected: true }
  const ready = await workload.prepare(createStage(site, options))
  const inspectors = serversOf(ready).flatMap(({ child }) => child.inspectors())
  if (inspectors.length === 0) throw new Mistake(`the servers of ${name} cannot be looked at from inside`)

  const { mostConnections = options.connections, rate = options.rate } = workload
  const ports = serversOf(ready).map(({ port }) => port)
  const order = { ports, connections: Math.min(options.connections, mostConnections), rate }
  const generator = startGenerator(site)
  // From before anything is hot: of code that was optimised earlier V8 does not know which functions are in it.
  const profilings = await Promise.all(inspectors.map((address) => startProfiling(address, sampleMicroseconds)))
  const warm = await generator.run({ ...order, requests: ready.requests, seconds: options.warmUp * 10 })
  const begun = Number(process.hrtime.bigint() / 1000n)
  const { answered, errors } = await generator.run({ ...order, requests: warm.rest, seconds: options.seconds * options.rounds })
  const profiles = await Promise.all(profilings.map(async (profiling) => cutProfile(await profiling.stop(), begun)))

  const everything = readProfiles(profiles, root)
  await mkdir(folder, { recursive: true })
  for (const [index, profile] of profiles.entries())
    await writeFile(join(folder, `${name}-${index + 1}.cpuprofile`), JSON.stringify(profile))
  const graph = join(folder, `${name}.svg`)
  await writeFile(graph, drawFlame(everything, `${workload.title}: ${answered} requests`))
  const failed = Object.entries(errors).map(([why, count]) => `not valid: ${count} × ${why}`)
  return [
    `${workload.title}: ${answered} requests, ${(everything.total / answered).toFixed(1)} µs each in which the servers were busy`,
    ...failed,
    '',
    writeTop(topFunctions(everything, shownFunctions), everything.total),
    '',
    `${relative(process.cwd(), graph)}, and beside it what V8 saw, for the developer tools of a browser`,
  ].join('\n')
}
