import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { answerFraming, type Framing, requestFraming } from './http-framing.ts'

export type Balancer = {
  port: number
  origin: string
  /** How many requests each node was given. */
  given: ReadonlyMap<number, number>
  close(): Promise<void>
}

/** Milliseconds that somebody may go on after the end of their answer. */
const patience = 1_000

/**
 * Gives every HTTP request to the next of some ports, whichever connection it came on, and passes on bytes as they are, as they come. What
 * it cannot read as HTTP/1.1 it passes on as well, to one of them, until the connection ends. A port where nobody listens is passed over.
 * Listens on any port that is free, unless one is wanted.
 */
export async function startBalancer(ports: readonly number[], wanted = 0): Promise<Balancer> {
  const given = new Map(ports.map((port) => [port, 0]))
  const sockets = new Set<Socket>()
  let turn = 0

  function watched(socket: Socket): Socket {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    return socket
  }

  /** A connection to the next node that takes one. */
  async function nextNode(): Promise<Socket | undefined> {
    for (let tries = 0; tries < ports.length; tries++) {
      const port = ports[turn++ % ports.length] as number
      const socket = watched(connect({ port, host: '127.0.0.1', allowHalfOpen: true }))
      const connected = await once(socket, 'connect').then(
        () => true,
        () => false,
      )
      if (!connected) continue
      given.set(port, (given.get(port) ?? 0) + 1)
      return socket
    }
    return undefined
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    watched(client)
    let held: Buffer[] = []
    let exchange: { node: Socket; request: Framing } | undefined
    let connecting = false
    let ended = false

    async function begin() {
      connecting = true
      const node = await nextNode()
      connecting = false
      if (!node || client.destroyed) {
        node?.destroy()
        client.destroy()
        return
      }
      const request = requestFraming()
      const answer = answerFraming(request)
      const own = { node, request }
      exchange = own
      node.on('data', (bytes) => {
        answer.take(bytes)
        if (!client.write(bytes)) {
          node.pause()
          client.once('drain', () => node.resume())
        }
        if (answer.state() !== 'whole' || request.state() !== 'whole' || exchange !== own) return
        exchange = undefined
        over = true
        node.end()
        pump()
      })
      let over = false
      // Without a whole answer the end of the node's words is the end of the connection, and whoever asked must see it.
      const leave = () => {
        if (!over) hangUp()
      }
      node.on('end', leave)
      node.on('close', leave)
      pump()
    }

    /** Who is still talking would lose the answer if we hung up at once, and must not hold the connection either. */
    function hangUp() {
      client.end()
      client.resume()
      setTimeout(() => client.destroy(), patience).unref()
    }

    /** Passes on what belongs to the request under way; what comes behind it waits for the answer. */
    function pump() {
      while (held.length > 0) {
        if (!exchange) {
          if (!connecting) void begin()
          return
        }
        if (exchange.request.state() === 'whole') return
        const bytes = held.shift() as Buffer
        const own = exchange.request.take(bytes)
        if (own < bytes.length) held = [bytes.subarray(own), ...held]
        if (!exchange.node.write(bytes.subarray(0, own))) {
          client.pause()
          exchange.node.once('drain', () => client.resume())
        }
      }
      if (!ended || connecting) return
      if (exchange) exchange.node.end()
      else client.end()
    }

    client.on('data', (bytes) => {
      held.push(bytes)
      pump()
    })
    client.on('end', () => {
      ended = true
      pump()
    })
    client.on('close', () => {
      if (exchange) exchange.node.destroy()
    })
  })
  server.listen(wanted, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    given,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
