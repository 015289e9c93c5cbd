import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import type { Cleanup } from './cleanup.ts'
import { createStatementReader, type Statement } from './statement-reader.ts'

/** Stands between a service and its database, and listens. Nothing is measured through it, for that takes time. */
export type Listener = {
  /** The address of a database by way of the listener. */
  through(url: string): string
  /** Forgets what was heard so far. */
  forget(): void
  heard(): Heard
}

export type Heard = {
  statements: readonly Statement[]
  /** How often something was sent after an answer had come: so often was the database waited for, one time after the other. */
  roundTrips: number
}

/** Milliseconds within which what is sent without waiting for an answer is all there: an answer must not come in between. */
const patience = 5

export async function startListener(url: string, cleanup: Cleanup): Promise<Listener> {
  const { host, port: upstreamPort } = new pg.Client(url)
  const upstream = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${upstreamPort}` } : { host, port: upstreamPort }
  const sockets = new Set<Socket>()
  let statements: Statement[] = []
  let roundTrips = 0
  let answered = true
  let problem: unknown

  const server = createServer((near) => {
    const far = connect(upstream)
    const read = createStatementReader()
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    let held: Buffer[] = []
    near.on('data', (chunk) => {
      if (answered) roundTrips += 1
      answered = false
      try {
        statements.push(...read(chunk))
      } catch (found) {
        problem = found
      }
      if (held.length === 0) setTimeout(passOn, patience)
      held.push(chunk)
    })
    const passOn = () => {
      for (const chunk of held) far.write(chunk)
      held = []
    }
    far.on('data', (chunk) => {
      answered = true
      near.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.later(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return {
    through(url) {
      const { user, database } = new pg.Client(url)
      return `postgres://${encodeURIComponent(user ?? '')}@127.0.0.1:${port}/${encodeURIComponent(database ?? '')}?sslmode=disable`
    },
    forget() {
      statements = []
      roundTrips = 0
      answered = true
    },
    heard() {
      if (problem !== undefined) throw problem
      return { statements, roundTrips }
    },
  }
}
