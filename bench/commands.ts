import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { endedChildrenMicroseconds, processorMicroseconds } from './processes.ts'
import { environment, type Site } from './servers.ts'
import { type Size, sizes } from './sizes.ts'
import type { Stage } from './stage.ts'

/** A command that goes through very many rows: what it takes for each of them, the start of the program included. */
export type BulkCommand = {
  name: string
  title: string
  /** Takes minutes. */
  large?: boolean
  prepare(stage: Stage): Promise<{ words: readonly string[]; database: string; env?: Readonly<Record<string, string>> }>
  /** How many rows its output says that it went through. */
  rowsOf(output: string): number
}

export type CommandFigures = {
  name: string
  title: string
  rows: number
  seconds: number
  programMicroseconds: number | undefined
  databaseMicroseconds: number | undefined
  problem: string | undefined
}

export const commands: readonly BulkCommand[] = [
  ...sizes.map((size) => ({
    name: `verify-${size.name}`,
    title: `payments verify, ${size.title} transactions`,
    large: isLarge(size),
    prepare: async ({ history }: Stage) => ({ words: ['verify'], database: (await history(size.rows)).server.database }),
    rowsOf: countRows,
  })),
  ...sizes.map((size) => ({
    name: `export-${size.name}`,
    title: `payments payouts export, ${size.title} payouts`,
    large: isLarge(size),
    prepare: (stage: Stage) => exporting(stage, size),
    rowsOf: (output: string) => Number(/^Wrote (\d+) payouts/m.exec(output)?.[1] ?? Number.NaN),
  })),
]

/** A million of anything takes minutes. */
function isLarge({ rows }: Size): boolean {
  return rows > 100_000
}

async function exporting({ payouts }: Stage, { rows }: Size) {
  const { database, day } = await payouts(rows)
  const env = { PAY_PAYOUTS_DEBTOR_NAME: 'Bench', PAY_PAYOUTS_DEBTOR_IBAN: 'DK5000400440116243' }
  return { words: ['payouts', 'export', day, `${database}.xml`, '--test'], database, env }
}

/** All that `Checked 1 app, 2 transactions, …: no breach.` counts. */
function countRows(output: string): number {
  const counted = /^Checked (.*): no breach\.$/m.exec(output)?.[1]
  if (counted === undefined) return Number.NaN
  return [...counted.matchAll(/(?:^|, )(\d+) /g)].reduce((sum, [, count]) => sum + Number(count), 0)
}

export function chooseCommands(names: readonly string[]): readonly BulkCommand[] {
  return commands.filter(({ name }) => names.includes(name))
}

export async function measureCommand(command: BulkCommand, stage: Stage): Promise<CommandFigures> {
  const { name, title, prepare, rowsOf } = command
  const { words, database, env = {} } = await prepare(stage)
  console.error(name)
  const url = await stage.site.database.url(database)
  const before = readCosts(stage.site)
  const started = performance.now()
  const { output, problem } = await run(stage.site, ['payments', ...words], {
    ...environment('payments', { workers: 1, port: 0, url }),
    ...env,
  })
  const seconds = (performance.now() - started) / 1000
  const after = readCosts(stage.site)
  const rows = rowsOf(output)
  return {
    name,
    title,
    rows,
    seconds,
    programMicroseconds: difference(before.program, after.program),
    databaseMicroseconds: difference(before.database, after.database),
    problem: problem ?? (Number.isNaN(rows) ? `said ${output.slice(0, 500)}` : undefined),
  }
}

async function run(site: Site, words: readonly string[], env: Readonly<Record<string, string>>) {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  const inherited = { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) }
  const options = { cwd: site.database.folder, env: { ...inherited, ...env }, maxBuffer: 2 ** 26 }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [site.program, ...words], options)
    return { output: stdout, problem: undefined }
  } catch (problem) {
    const { code, stdout = '', stderr = '' } = problem as { code?: unknown; stdout?: string; stderr?: string }
    return { output: stdout, problem: `ended with ${code}: ${stderr.trim().slice(0, 500)}` }
  }
}

function readCosts({ database }: Site) {
  return { program: endedChildrenMicroseconds(), database: processorMicroseconds(database.pid) }
}

function difference(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before
}
