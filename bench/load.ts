import type { Answer } from './answer-reader.ts'
import { type Connection, openBundle } from './connection.ts'
import { createLatencies, type Latencies, record } from './latency.ts'
import { createAsker, type Requests } from './requests.ts'
import { closedLoop, openLoop, type Schedule } from './schedule.ts'

export type Order = {
  /** Of the servers that are asked; most workloads have one. */
  ports: readonly number[]
  requests: Requests
  connections: number
  seconds: number
  /** Requests a second; without it every connection asks again as soon as it was answered. */
  rate?: number | undefined
  /** Seconds that the last answers may take. */
  patience?: number
  /** More is asked than can be done: whoever is told to come back later is counted, and nothing has gone wrong. */
  mayBeRefused?: boolean
}

export type Outcome = {
  /** Requests that were answered well. */
  answered: number
  /** Requests that were told to come back later, where that was to be expected. */
  refused: number
  seconds: number
  latencies: Latencies
  /** How often what went wrong. */
  errors: Record<string, number>
  /** What this load cost the process that made it. */
  processorMicroseconds: number
  /** What the next load goes on with. */
  rest: Requests
}

/** Puts a load on servers of this machine, and tells what came back. Ends by itself, whatever the server does. */
export async function load(order: Order): Promise<Outcome> {
  const { ports, connections, seconds, rate, patience = 5, mayBeRefused = false } = order
  const asker = createAsker(order.requests, connections)
  const latencies = createLatencies()
  const errors: Record<string, number> = {}
  const open = new Set<Connection>()
  const idle: Connection[] = []
  let opening = 0
  let answered = 0
  let refused = 0
  let schedule: Schedule | undefined
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })

  const complain = (why: string) => {
    errors[why] = (errors[why] ?? 0) + 1
  }

  async function openOne(place: number) {
    opening += 1
    try {
      const wanted = { ports, place, keepBody: asker.learns, serverOf: asker.server }
      const connection = await openBundle(wanted, { onAnswer, onBroken })
      open.add(connection)
      idle.push(connection)
    } catch (problem) {
      // Its place stays empty: a server that takes no connections is not asked again and again.
      complain(`no connection (${(problem as Error & { code?: string }).code})`)
    } finally {
      opening -= 1
    }
    sendDue()
  }

  function onAnswer(connection: Connection, { status, busy, body }: Answer, since: number) {
    const now = performance.now()
    if (busy && mayBeRefused) refused += 1
    else if (status >= 300) complain(`answered ${status}`)
    else if (!asker.learn(connection.place, body)) complain('answered without what the next request needs')
    else {
      const follow = asker.follow(connection.place)
      if (follow !== undefined) return connection.send(follow, since)
      answered += 1
      record(latencies, now - since)
    }
    const next = schedule?.next(now)
    if (next !== undefined) return connection.send(asker.next(connection.place), next)
    idle.push(connection)
    endWhenDone(now)
  }

  function onBroken(connection: Connection, why: string) {
    complain(why)
    open.delete(connection)
    const place = idle.indexOf(connection)
    if (place >= 0) idle.splice(place, 1)
    if (!schedule?.over(performance.now())) void openOne(connection.place)
    else endWhenDone(performance.now())
  }

  function sendDue() {
    if (!schedule) return
    const now = performance.now()
    while (idle.length > 0) {
      const since = schedule.next(now)
      if (since === undefined) break
      // The one that has rested longest, so that all are used alike when there is little to do.
      const connection = idle.shift()
      connection?.send(asker.next(connection.place), since)
    }
    endWhenDone(now)
  }

  function endWhenDone(now: number) {
    const nobodyLeft = open.size === 0 && opening === 0
    if (nobodyLeft || (schedule?.over(now) && opening === 0 && idle.length === open.size)) finish()
  }

  await Promise.all(Array.from({ length: connections }, (_, place) => openOne(place)))
  const before = process.cpuUsage()
  schedule = rate === undefined ? closedLoop(seconds) : await openLoop({ rate, seconds }, sendDue)
  const started = performance.now()
  const late = setTimeout(finish, (seconds + patience) * 1000)
  sendDue()
  await finished
  const elapsed = (performance.now() - started) / 1000
  const spent = process.cpuUsage(before)
  clearTimeout(late)
  await schedule.stop()
  for (const connection of open) {
    if (connection.busy()) complain(`no complete answer within ${patience} s`)
    connection.close()
  }
  const processorMicroseconds = spent.user + spent.system
  return { answered, refused, seconds: elapsed, latencies, errors, processorMicroseconds, rest: asker.rest() }
}
