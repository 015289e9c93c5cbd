import { once } from 'node:events'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { Database } from './database.ts'
import type { Order, Outcome } from './load.ts'
import type { Options } from './options.ts'
import { machineMicroseconds, processorMicroseconds } from './processes.ts'
import type { Server, Site } from './servers.ts'
import { percent } from './statistics.ts'
import type { Ready, Workload } from './workload.ts'

/** A workload that stands ready, and what has been measured of it so far. */
export type Measured = Ready & {
  workload: Workload
  rounds: Round[]
  remarks: string[]
  /** Requests a second, once that is decided. */
  rate?: number | undefined
}

/** One stretch of load: what the load generator saw, and what it cost the others. */
export type Round = Omit<Outcome, 'rest'> & {
  serverMicroseconds: number | undefined
  databaseMicroseconds: number | undefined
  /** What was spent on the machine by nobody of us: when it is much, the figures are not worth much. */
  strangerMicroseconds: number | undefined
  statements: number | undefined
}

export type Generator = { run(order: Order): Promise<Outcome> }

export function startGenerator({ database, cleanup }: Site): Generator {
  const words = [join(import.meta.dirname, 'load-process.ts')]
  const child: Child = startChild({ words, env: {}, folder: database.folder, ipc: true })
  cleanup.later(() => child.stop())
  const gone = once(child.process, 'exit').then(() => Promise.reject(new Error(`the load generator ${child.complaint()}`)))
  // Of interest only while an order is under way.
  gone.catch(() => {})
  return {
    async run(order) {
      child.process.send(order)
      const [outcome] = (await Promise.race([once(child.process, 'message'), gone])) as [Outcome]
      return outcome
    },
  }
}

/** Takes the workloads in turns, so that whatever else the machine does meets all of them alike. */
export async function measureRounds(measured: readonly Measured[], generator: Generator, options: Options, database: Database) {
  for (let round = 1; round <= options.rounds; round++) {
    console.error(`round ${round} of ${options.rounds}`)
    for (const each of measured) {
      const { mostConnections = options.connections } = each.workload
      each.rate ??= chooseRate(each, measured) ?? options.rate
      const { rate } = each
      const order = { port: each.server.port, connections: Math.min(options.connections, mostConnections), rate }
      const warmUp = round === 1 ? options.warmUp * 10 : options.warmUp
      const warm = await generator.run({ ...order, requests: each.requests, seconds: warmUp })
      const before = await readCosts(each.server, database)
      const { rest, ...outcome } = await generator.run({ ...order, requests: warm.rest, seconds: options.seconds })
      each.requests = rest
      const after = await readCosts(each.server, database)
      each.rounds.push({
        ...outcome,
        errors: [warm.errors, outcome.errors, lastWords(each.server)].reduce(addErrors),
        ...sinceThen(before, after, outcome.processorMicroseconds),
        statements: after.statements - before.statements,
      })
    }
  }
}

/** What a workload wants, or less where the machine could not keep up with that. The same in all rounds. */
export function chooseRate({ workload: { rate, within }, remarks }: Measured, all: readonly Measured[]): number | undefined {
  const first = all.find(({ workload }) => workload.name === within?.of)?.rounds[0]
  if (rate === undefined || within === undefined || first === undefined) return rate
  const most = Math.max(1, Math.floor((within.share * first.answered) / first.seconds))
  if (most >= rate) return rate
  remarks.push(`at ${most}/s only, ${percent(within.share)} of what ${within.of} was answered in the first round`)
  return most
}

export function addErrors(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  const sum = { ...one }
  for (const [why, count] of Object.entries(other)) sum[why] = (sum[why] ?? 0) + count
  return sum
}

export function lastWords({ child }: Server): Record<string, number> {
  const complaint = child.complaint()
  return complaint === undefined ? {} : { [`the server ${complaint}`]: 1 }
}

async function readCosts(server: Server, database: Database) {
  const statements = await database.statements(server.database)
  return { ...readProcessors(server, database), statements }
}

type Processors = Record<'server' | 'database' | 'machine', number | undefined>

/** What everybody has used so far. */
export function readProcessors(server: Server, database: Database): Processors {
  return {
    server: processorMicroseconds(server.child.pid),
    database: processorMicroseconds(database.pid),
    machine: machineMicroseconds(),
  }
}

/** What each has used since then; `generators` is what those who made the load say of themselves. */
export function sinceThen(before: Processors, after: Processors, generators: number) {
  const serverMicroseconds = difference(before.server, after.server)
  const databaseMicroseconds = difference(before.database, after.database)
  const ours = generators + (serverMicroseconds ?? 0) + (databaseMicroseconds ?? 0)
  const all = difference(before.machine, after.machine)
  return {
    serverMicroseconds,
    databaseMicroseconds,
    strangerMicroseconds: all === undefined ? undefined : Math.max(0, all - ours),
  }
}

function difference(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before
}
