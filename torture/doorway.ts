import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import type { Random } from './random.ts'

/** A server's port, which can be shut as by a machine that has died, and opened again under the same number. */
export type Doorway = {
  port: number
  /** Hangs up on everybody, and whoever comes next is refused. */
  shut(): void
  open(): void
  hangUp(): void
  close(): Promise<void>
}

export async function openDoorway(server: Server, random: Random): Promise<Doorway> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // A caller who hangs up is no news.
    socket.on('error', () => {})
  })
  // Below those that the system hands out by itself, so that nobody else gets it while it is shut.
  const listen = async (port: number): Promise<boolean> => {
    server.listen(port, '127.0.0.1')
    return once(server, 'listening').then(
      () => true,
      () => false,
    )
  }
  let port = random.between(20_000, 29_999)
  while (!(await listen(port))) port = random.between(20_000, 29_999)
  server.on('error', () => {})

  let shut = false
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    hangUp,
    shut() {
      if (!shut) server.close()
      shut = true
      hangUp()
    },
    open() {
      if (shut) server.listen(port, '127.0.0.1')
      shut = false
    },
    async close() {
      const closed = shut ? undefined : new Promise((resolve) => server.close(resolve))
      shut = true
      hangUp()
      await closed
    },
  }
}
