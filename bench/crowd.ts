import type { Database } from './database.ts'
import { addErrors, type Generator, lastWords, type Measured, readProcessors, sinceThen } from './measure.ts'
import type { Requests } from './requests.ts'

const seconds = 10
const probeSeconds = 3
/** Until the crowd has filled the place. */
const settleSeconds = 3
/** More than the server lets wait, so that some are sent away. */
const crowdConnections = 160

/**
 * Measures a workload while others ask the same server for twice of what it can do. That some of them are sent away keeps the
 * service alive for everybody else, and is no error; if none were, there was no crowd.
 */
export async function measureCrowded(
  measured: Measured,
  crowd: Requests,
  means: { generator: Generator; other: Generator; connections: number; database: Database },
) {
  const { server, workload, rounds, remarks } = measured
  const { generator, other, connections, database } = means
  console.error(`${workload.name}: finding out how much can be done`)
  const asked = { ports: [server.port], mayBeRefused: true, patience: 10 }
  const probe = await other.run({ ...asked, requests: crowd, connections: 32, seconds: probeSeconds })
  const capacity = probe.answered / probe.seconds

  console.error(`${workload.name}: twice as much is asked for`)
  const order = { ports: [server.port], connections, rate: workload.rate }
  const before = readProcessors(measured, database)
  const coming = other.run({
    ...asked,
    requests: probe.rest,
    connections: crowdConnections,
    rate: Math.max(1, 2 * capacity),
    seconds: settleSeconds + seconds + 1,
  })
  const settled = await generator.run({ ...order, requests: measured.requests, seconds: settleSeconds })
  const { rest, ...outcome } = await generator.run({ ...order, requests: settled.rest, seconds })
  measured.requests = rest
  const came = await coming
  const generators = [settled, outcome, came].reduce((sum, each) => sum + each.processorMicroseconds, 0)
  const { strangerMicroseconds } = sinceThen(before, readProcessors(measured, database), generators)

  const noCrowd: Record<string, number> = came.refused === 0 ? { 'nobody of the crowd was sent away': 1 } : {}
  rounds.push({
    ...outcome,
    errors: [probe, settled, outcome, came].map((each) => each.errors).reduce(addErrors, addErrors(noCrowd, lastWords(measured))),
    // Who of them all has cost how much is not known.
    serverMicroseconds: undefined,
    databaseMicroseconds: undefined,
    strangerMicroseconds: strangerMicroseconds && (strangerMicroseconds / came.seconds) * outcome.seconds,
    statements: undefined,
  })
  const each = (count: number) => `${(count / came.seconds).toFixed(0)}/s`
  remarks.push(
    `a crowd at twice the capacity of ${capacity.toFixed(0)}/s: ${each(came.answered)} were answered, ${each(came.refused)} told to come back`,
  )
}
