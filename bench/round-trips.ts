import { createCleanup } from './cleanup.ts'
import { type Connection, openBundle } from './connection.ts'
import { type Listener, startListener } from './listener.ts'
import type { Measured } from './measure.ts'
import { createAsker } from './requests.ts'
import type { Site } from './servers.ts'
import { median } from './statistics.ts'
import { serversOf } from './workload.ts'

/** The first requests of a service fill its memory and prepare statements. */
const unheard = 4
const heard = 15

/**
 * How often a request waits for the database before it is answered, one time after the other. Counted outside of all measurements, on servers
 * of the same kind whose way to the database leads past a listener, one request at a time. The median, for what runs by the clock comes in
 * between now and then. A server that cannot be started twice is not listened to.
 */
export async function countRoundTrips(measured: readonly Measured[], site: Site): Promise<void> {
  console.error('round trips')
  for (const together of Object.values(Object.groupBy(measured, namesOfServers))) {
    const [first] = together ?? []
    const servers = first ? serversOf(first) : []
    if (servers.some(({ again }) => again === undefined)) continue
    const cleanup = createCleanup()
    site.cleanup.later(() => cleanup.now())
    const ports: number[] = []
    const listener = await startListener(await site.database.url(servers[0]?.database ?? ''), cleanup)
    for (const { again, database } of servers) {
      const url = listener.through(await site.database.url(database))
      ports.push((await again?.(url, cleanup))?.port ?? 0)
    }
    for (const each of together ?? []) each.roundTrips = await countOf(each, ports, listener)
    await cleanup.now()
  }
}

function namesOfServers(measured: Measured): string {
  return serversOf(measured)
    .map(({ port }) => port)
    .join()
}

async function countOf(each: Measured, ports: readonly number[], listener: Listener): Promise<number | undefined> {
  const asker = createAsker(each.requests, 1)
  let answered = (_: string | undefined) => {}
  const events = {
    onAnswer(connection: Connection, { status, body }: { status: number; body: Buffer }, since: number) {
      if (status >= 300 || !asker.learn(0, body)) return answered(`answered ${status} where round trips were counted`)
      const follow = asker.follow(0)
      if (follow === undefined) return answered(undefined)
      connection.send(follow, since)
    },
    onBroken: (_: Connection, why: string) => answered(why),
  }
  const connection = await openBundle({ ports, place: 0, keepBody: asker.learns, serverOf: asker.server }, events)
  const counts: number[] = []
  try {
    for (let number = 1; number <= unheard + heard; number++) {
      listener.forget()
      const problem = await new Promise<string | undefined>((resolve) => {
        answered = resolve
        connection.send(asker.next(0), 0)
      })
      if (problem !== undefined) throw new Error(`${each.workload.name} ${problem}`)
      if (number > unheard) counts.push(listener.heard().roundTrips)
    }
  } finally {
    connection.close()
    each.requests = asker.rest()
  }
  return median(counts)
}
