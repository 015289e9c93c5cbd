import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { type Cleanup, createCleanup } from '../bench/cleanup.ts'
import { Mistake } from '../bench/options.ts'
import { prepareProgram } from '../bench/program.ts'
import { type Options, readOptions, usage } from './options.ts'
import { tellReport, tellStrike } from './report.ts'
import { type Report, torture } from './run.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)

async function keep(folder: string, { log, history, ...report }: Report) {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`)
  await writeFile(join(folder, 'history.jsonl'), history.map((exchange) => `${JSON.stringify(exchange)}\n`).join(''))
  await copyFile(log, join(folder, 'service.log'))
}

function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => reject(new Mistake(`stopped by ${signal}`)))
  })
}

async function run(options: Options, cleanup: Cleanup): Promise<number> {
  const program = await prepareProgram(options.program)
  const load = { assistants: 6, customers: 4, longest: 15_000 }
  const tell = (...words: Parameters<typeof tellStrike>) => say(tellStrike(...words))
  const report = await torture({ ...options, ...load, program, tell }, cleanup)
  if (options.keep !== undefined) await keep(options.keep, report)
  say(tellReport(report, options))
  return report.findings.length === 0 ? 0 : 1
}

const cleanup = createCleanup()
try {
  const options = readOptions(process.argv.slice(2))
  if (options.help) say(usage)
  else {
    say(`torture: seed ${options.seed}`)
    process.exitCode = await Promise.race([run(options, cleanup), interruption()])
  }
} catch (problem) {
  process.stderr.write(`torture: ${problem instanceof Mistake ? problem.message : inspect(problem)}\n`)
  process.exitCode = 1
} finally {
  await cleanup.now()
  process.exit()
}
