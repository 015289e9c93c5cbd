import { connect } from 'node:net'
import { createAnswerReader, Surprise } from './answer-reader.ts'

/** A connection that carries one request at a time. */
export type Connection = {
  /** `since` is the moment from which the answer's latency counts. */
  send(since: number): void
  busy(): boolean
  close(): void
}

export type ConnectionEvents = {
  onAnswer(connection: Connection, status: number, since: number): void
  /** It is of no use any more. Never told twice, nor after close. */
  onBroken(connection: Connection, why: string): void
}

// All connections read into the same memory: what arrives is looked at before anything else can arrive.
const buffer = Buffer.alloc(65_536)

export function openConnection(port: number, request: Uint8Array, events: ConnectionEvents): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const read = createAnswerReader()
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
      send(moment) {
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
        const status = read(chunk)
        if (status === undefined) return
        const asked = since
        since = undefined
        events.onAnswer(connection, status, asked)
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
