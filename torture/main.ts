import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { type Cleanup, createCleanup } from '../bench/cleanup.ts'
import { Mistake } from '../bench/options.ts'
import { prepareProgram } from '../bench/program.ts'
import { findDisk, runWithDisk } from './disk.ts'
import { type Options, readOptions, usage } from './options.ts'
import { tellReport, tellStrike } from './report.ts'
import { type Report, torture } from './run.ts'
import { faultsOf } from './schedule.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)

async function keep(folder: string, { log, history, ...report }: Report) {
  await mkdir(folder, { recursive: true })
  const file = (name: string) => join(folder, `${report.service}-${name}`)
  await writeFile(file('report.json'), `${JSON.stringify(report, null, 2)}\n`)
  await writeFile(file('history.jsonl'), history.map((exchange) => `${JSON.stringify(exchange)}\n`).join(''))
  await copyFile(log, file('service.log'))
}

function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => reject(new Mistake(`stopped by ${signal}`)))
  })
}

async function run({ services, ...options }: Options, cleanup: Cleanup): Promise<number> {
  const program = await prepareProgram(options.program)
  const load = { assistants: 6, customers: 4, people: 8, longest: 15_000 }
  const tell = (...words: Parameters<typeof tellStrike>) => say(tellStrike(...words))
  let found = 0
  // Whoever has none of the chosen faults has nothing to go wrong.
  for (const service of services.filter((name) => faultsOf(name, options.faults).length > 0)) {
    const own = createCleanup()
    cleanup.later(() => own.now())
    const report = await torture({ ...options, ...load, service, program, tell }, own)
    if (options.keep !== undefined) await keep(options.keep, report)
    say(tellReport(report, options))
    found += report.findings.length
    await own.now()
  }
  return found === 0 ? 0 : 1
}

/** With a disk of our own to fill, in a process that has one; without, where this machine does not let us. */
async function runAnywhere(options: Options, cleanup: Cleanup): Promise<number> {
  const here = (own: Options) => Promise.race([run(own, cleanup), interruption()])
  if (!options.faults.includes('disk') || findDisk()) return here(options)
  const inside = [import.meta.filename, ...process.argv.slice(2), '--seed', String(options.seed)]
  const outcome = await runWithDisk(inside)
  if ('code' in outcome) return outcome.code
  say(`skipped: disk: ${outcome.obstacle}`)
  const faults = options.faults.filter((name) => name !== 'disk')
  return faults.length === 0 ? 0 : here({ ...options, faults })
}

const cleanup = createCleanup()
try {
  const options = readOptions(process.argv.slice(2))
  if (options.help) say(usage)
  else {
    if (!findDisk()) say(`torture: seed ${options.seed}`)
    process.exitCode = await runAnywhere(options, cleanup)
  }
} catch (problem) {
  process.stderr.write(`torture: ${problem instanceof Mistake ? problem.message : inspect(problem)}\n`)
  process.exitCode = 1
} finally {
  await cleanup.now()
  process.exit()
}
