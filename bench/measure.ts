import { once } from 'node:events'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { Database } from './database.ts'
import type { Latencies } from './latency.ts'
import type { Order, Outcome } from './load.ts'
import type { Options } from './options.ts'
import { machineMicroseconds, processorMicroseconds } from './processes.ts'
import type { Site } from './servers.ts'
import { median, percent, sum } from './statistics.ts'
import { type Ready, serversOf, type Workload } from './workload.ts'

/** A workload that stands ready, and what has been measured of it so far. */
export type Measured = Ready & {
  workload: Workload
  rounds: Round[]
  remarks: string[]
  /** What was seen at a fixed rate. */
  paced?: Paced
  /** How often a request waits for the database, one time after the other. */
  roundTrips?: number | undefined
}

/** Latency where requests come at a rate that does not depend on the answers. */
export type Paced = { rate: number; latencies: Latencies; errors: Record<string, number> }

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
      const order = orderOf(each, options, each.workload.rate ?? options.rate)
      const warmUp = round === 1 ? options.warmUp * 10 : options.warmUp
      const warm = await generator.run({ ...order, requests: each.requests, seconds: warmUp })
      const before = await readCosts(each, database)
      const { rest, ...outcome } = await generator.run({ ...order, requests: warm.rest, seconds: options.seconds })
      each.requests = rest
      const after = await readCosts(each, database)
      each.rounds.push({
        ...outcome,
        errors: [warm.errors, outcome.errors, lastWords(each)].reduce(addErrors),
        ...sinceThen(before, after, outcome.processorMicroseconds),
        statements: after.statements - before.statements,
      })
    }
  }
}

/** Looks at latency by itself: one workload after the other, at the rate of each. */
export async function measurePaced(measured: readonly Measured[], generator: Generator, options: Options) {
  for (const each of measured) {
    const rate = choosePace(each)
    if (rate === undefined) continue
    console.error(`${each.workload.name}: ${rate}/s`)
    const order = orderOf(each, options, rate)
    const warm = await generator.run({ ...order, requests: each.requests, seconds: options.warmUp })
    const { rest, latencies, errors } = await generator.run({ ...order, requests: warm.rest, seconds: options.paced })
    each.requests = rest
    each.paced = { rate, latencies, errors: [warm.errors, errors, lastWords(each)].reduce(addErrors) }
  }
}

function orderOf(each: Measured, { connections }: Options, rate: number | undefined) {
  const { mostConnections = connections } = each.workload
  return { ports: serversOf(each).map(({ port }) => port), connections: Math.min(connections, mostConnections), rate }
}

/** Beyond this share of what can be answered it is a queue that is measured, not a service. */
const mostPace = 0.6

/** What a workload wants, or less where the machine could not keep up with that. None where it was measured at a fixed rate all along. */
export function choosePace({ workload: { pace, rate }, rounds, remarks }: Measured): number | undefined {
  if (pace === undefined || rate !== undefined || rounds.length === 0) return undefined
  const most = Math.max(1, Math.floor(mostPace * median(rounds.map((round) => round.answered / round.seconds))))
  if (most >= pace) return pace
  remarks.push(`its latency was looked at at ${most}/s instead of ${pace}/s: ${percent(mostPace)} of what it was answered`)
  return most
}

export function addErrors(one: Record<string, number>, other: Record<string, number>): Record<string, number> {
  const sum = { ...one }
  for (const [why, count] of Object.entries(other)) sum[why] = (sum[why] ?? 0) + count
  return sum
}

export function lastWords(ready: Pick<Ready, 'server' | 'others'>): Record<string, number> {
  const complaints = serversOf(ready).flatMap(({ child }) => child.complaint() ?? [])
  return Object.fromEntries(complaints.map((complaint) => [`the server ${complaint}`, 1]))
}

async function readCosts(ready: Ready, database: Database) {
  const counts = await Promise.all(serversOf(ready).map((server) => database.statements(server.database)))
  return { ...readProcessors(ready, database), statements: sum(counts) }
}

type Processors = Record<'server' | 'database' | 'machine', number | undefined>

/** What everybody has used so far. */
export function readProcessors(ready: Pick<Ready, 'server' | 'others'>, database: Database): Processors {
  const each = serversOf(ready).map(({ child }) => processorMicroseconds(child.pid))
  return {
    server: each.includes(undefined) ? undefined : sum(each as number[]),
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
