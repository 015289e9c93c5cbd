import { connect } from 'node:net'
import { type Answer, createAnswerReader, Surprise } from './answer-reader.ts'

/** A connection that carries one request at a time. */
export type Connection = {
  /** Which of all connections it is, from 0. One that is made anew takes the place of the one that broke. */
  place: number
  /** `since` is the moment from which the answer's latency counts. */
  send(request: Uint8Array, since: number): void
  busy(): boolean
  close(): void
}

export type ConnectionEvents = {
  onAnswer(connection: Connection, answer: Answer, since: number): void
  /** It is of no use any more. Never told twice, nor after close. */
  onBroken(connection: Connection, why: string): void
}

// All connections read into the same memory: what arrives is looked at before anything else can arrive.
const buffer = Buffer.alloc(65_536)

function openConnection(
  { port, place, keepBody }: { port: number; place: number; keepBody: boolean },
  events: ConnectionEvents,
): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const read = createAnswerReader({ keepBody })
    let since: number | undefined
    let over = false

    const socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer,
        callback(size, bytes) {
          take(Buffer.from(bytes.buffer, bytes.byteOffset, size))
          return true
        },
      },
    })

    const connection: Connection = {
      place,
      send(request, moment) {
        since = moment
        socket.write(request)
      },
      busy: () => since !== undefined,
      close() {
        over = true
        socket.destroy()
      },
    }

    function take(chunk: Buffer) {
      if (over) return
      if (since === undefined) return breakOff('the server spoke without being asked')
      try {
        const answer = read(chunk)
        if (answer === undefined) return
        const asked = since
        since = undefined
        events.onAnswer(connection, answer, asked)
      } catch (problem) {
        if (!(problem instanceof Surprise)) throw problem
        breakOff(`the server ${problem.message}`)
      }
    }

    function breakOff(why: string) {
      if (over) return
      connection.close()
      events.onBroken(connection, why)
    }

    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', (problem: Error & { code?: string }) => breakOff(`the connection broke (${problem.code})`))
      socket.on('close', () => breakOff('the connection was cut'))
      resolve(connection)
    })
    socket.once('error', reject)
  })
}

type Bundle = { ports: readonly number[]; place: number; keepBody: boolean; serverOf(place: number): number }

/** Connections to several servers in one place, of which one is used at a time. When one of them breaks, all are of no use. */
export async function openBundle(
  { ports, serverOf, ...wanted }: Bundle,
  { onAnswer, onBroken }: ConnectionEvents,
): Promise<Connection> {
  const all: Connection[] = []
  let over = false
  let opened = false
  const bundle: Connection = {
    place: wanted.place,
    send: (request, since) => all[serverOf(wanted.place)]?.send(request, since),
    busy: () => all.some((each) => each.busy()),
    close() {
      over = true
      for (const each of all) each.close()
    },
  }
  const events: ConnectionEvents = {
    onAnswer: (_, answer, since) => onAnswer(bundle, answer, since),
    onBroken(_, why) {
      if (over) return
      bundle.close()
      if (opened) onBroken(bundle, why)
    },
  }
  try {
    for (const port of ports) all.push(await openConnection({ port, ...wanted }, events))
    if (over) throw Object.assign(new Error('one broke before all were there'), { code: 'ECONNRESET' })
  } catch (problem) {
    bundle.close()
    throw problem
  }
  opened = true
  return bundle
}
