import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { type BackendMessage, commandOf, isIdle, messageSplitter } from './backend-messages.ts'

/** How often each thing has happened. */
export type ProxyTally = {
  connections: number
  cut: number
  refused: number
  /** Pieces of data that had to wait. */
  stalled: number
  dribbledBytes: number
  lostCommits: number
  lostAnswers: number
}

export type FaultProxy = {
  port: number
  tally: ProxyTally
  /** How many connections there are. */
  connected(): number
  /** Ends connections in the middle of whatever they are at: all, or those that are chosen. */
  cut(chosen?: () => boolean): void
  /** Nothing passes until `flow`. What was on its way arrives then, even if whoever sent it has died meanwhile. */
  stall(): void
  /** Everything passes byte by byte, with so many milliseconds in between, until `flow`. */
  dribble(pause: number): void
  flow(): void
  /** Hangs up on whoever connects, until `accept`. */
  refuse(): void
  accept(): void
  /** So many connections are cut when the server tells that it has committed; nobody is told. */
  loseCommits(count: number): void
  /** The same for a statement outside of a transaction, which is one by itself. */
  loseAnswers(count: number): void
  /** Forgets everything that is to go wrong. */
  calm(): void
  close(): Promise<void>
}

/** Commands whose answer is worth losing. What has changed something in a WITH may say SELECT. */
const changes = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'SELECT'])

/** Stands between a service and its PostgreSQL, on connections without TLS, and does what networks do. */
export async function startFaultProxy(upstream: () => NetConnectOpts): Promise<FaultProxy> {
  const tally = { connections: 0, cut: 0, refused: 0, stalled: 0, dribbledBytes: 0, lostCommits: 0, lostAnswers: 0 }
  const pairs = new Set<{ end(): void }>()
  let flowing: PromiseWithResolvers<void> | undefined
  let dribbling: number | undefined
  let refusing = false
  const toLose = { commits: 0, answers: 0 }

  async function deliver(data: Buffer, to: Socket): Promise<void> {
    if (flowing) tally.stalled++
    while (flowing) await flowing.promise
    for (let sent = 0; sent < data.length && !to.destroyed; ) {
      const pause = dribbling
      const part = pause === undefined ? data.subarray(sent) : data.subarray(sent, sent + 1)
      if (!to.write(part)) await Promise.race([once(to, 'drain'), once(to, 'close')])
      sent += part.length
      if (pause === undefined) continue
      tally.dribbledBytes++
      await (pause === 0 ? turn() : sleep(pause))
    }
  }

  async function pump(from: Socket, to: Socket, pass: (chunk: Buffer) => Buffer) {
    for await (const chunk of from) {
      const data = pass(chunk as Buffer)
      if (data.length > 0) await deliver(data, to)
    }
    to.end()
  }

  /** Holds back an answer that is to be lost until the server has shown that there is no way back. */
  function answersOf(end: () => void): (chunk: Buffer) => Buffer {
    const split = messageSplitter()
    let held: { messages: BackendMessage[]; kind: 'commits' | 'answers' } | undefined
    let over = false
    return (chunk) => {
      const passed: Buffer[] = []
      for (const message of split(chunk)) {
        if (over) break
        const command = commandOf(message)
        const kind = command === 'COMMIT' ? 'commits' : changes.has(command ?? '') ? 'answers' : undefined
        if (!held && kind && toLose[kind] > 0) held = { messages: [], kind }
        if (!held) {
          passed.push(message.bytes)
          continue
        }
        held.messages.push(message)
        if (message.type !== 'Z') continue
        const { messages, kind: losing } = held
        held = undefined
        if (!isIdle(message) || toLose[losing] === 0) {
          passed.push(...messages.map(({ bytes }) => bytes))
          continue
        }
        toLose[losing]--
        tally[losing === 'commits' ? 'lostCommits' : 'lostAnswers']++
        over = true
        // What was answered before is on its way.
        setImmediate(end)
      }
      return Buffer.concat(passed)
    }
  }

  const server = createServer((client) => {
    client.on('error', () => {})
    if (refusing) {
      tally.refused++
      client.resetAndDestroy()
      return
    }
    tally.connections++
    const database = connect(upstream())
    const pair = {
      end() {
        pairs.delete(pair)
        client.destroy()
        database.destroy()
      },
    }
    pairs.add(pair)
    for (const socket of [client, database]) socket.on('error', pair.end).setNoDelay(true)
    database.on('close', () => pairs.delete(pair))
    pump(client, database, (chunk) => chunk).catch(pair.end)
    pump(database, client, answersOf(pair.end)).catch(pair.end)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  function flow() {
    flowing?.resolve()
    flowing = undefined
    dribbling = undefined
  }
  function calm() {
    flow()
    refusing = false
    toLose.commits = 0
    toLose.answers = 0
  }
  return {
    port: (server.address() as AddressInfo).port,
    tally,
    connected: () => pairs.size,
    cut(chosen = () => true) {
      for (const pair of [...pairs].filter(chosen)) {
        tally.cut++
        pair.end()
      }
    },
    stall() {
      flowing ??= Promise.withResolvers()
    },
    dribble(pause) {
      dribbling = pause
    },
    flow,
    refuse() {
      refusing = true
    },
    accept() {
      refusing = false
    },
    loseCommits(count) {
      toLose.commits = count
    },
    loseAnswers(count) {
      toLose.answers = count
    },
    calm,
    async close() {
      calm()
      const closed = new Promise((resolve) => server.close(resolve))
      for (const pair of [...pairs]) pair.end()
      await closed
    },
  }
}
