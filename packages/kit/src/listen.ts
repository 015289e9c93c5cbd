import cluster from 'node:cluster'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Handler } from './serve.ts'

/** A port that cannot be had, in words for the person who starts the service. */
export class ListenProblem extends Error {}

export type Listening = {
  port: number
  server: Server
  /** Stops taking connections, lets requests in flight finish for `seconds`, then cuts what is left. */
  drain(seconds: number): Promise<void>
}

export type ListenOptions = {
  host: string
  port: number
  handler: Handler
  /** The setting that chooses the port, for the sentence that tells a person what to do. */
  portSetting: string
  /** What is answered to bytes that are not HTTP: the service's own error body. */
  malformed(status: number): { contentType: string; body: string; headers?: Readonly<Record<string, string | number>> }
  /** Hears of what goes wrong with the listener itself, such as too many open files. */
  trouble?(problem: Error): void
  /** Milliseconds that a caller may take for the head of a request, and for all of it. */
  slowest?: { head: number; whole: number }
}

export async function listen(options: ListenOptions): Promise<Listening> {
  const { head, whole } = options.slowest ?? { head: 10_000, whole: 30_000 }
  const server = createServer(
    {
      // A caller who dribbles must not hold a connection for ever.
      headersTimeout: head,
      requestTimeout: whole,
      connectionsCheckingInterval: head / 4,
      // Longer than the idle time of the usual load balancers, so that they close first and never meet a connection that is just closing.
      keepAliveTimeout: 75_000,
      maxHeaderSize: 32_768,
      noDelay: true,
      // The handler refuses it itself, in the service's own words.
      requireHostHeader: false,
    },
    options.handler,
  )
  // Nobody has to meet an expectation that they do not know.
  server.on('checkExpectation', options.handler)
  refuseMalformed(server, options)
  const silent = watchSilent(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (problem: Error & { code?: string }) => reject(wordListenProblem(problem, options)))
    server.listen({ host: options.host, port: options.port, backlog: 1024, reusePort: hasPeers(options.port) }, resolve)
  })
  server.removeAllListeners('error')
  // Without a listener, a moment without a free file descriptor would end the process.
  server.on('error', (problem) => options.trouble?.(problem))
  return { port: (server.address() as AddressInfo).port, server, drain: (seconds) => drain(server, silent, seconds) }
}

/**
 * Workers each listen for themselves where the system can share a port among them. Handed over by the supervisor, as node:cluster
 * does elsewhere, a connection that is on its way to a worker when that one dies would hang for ever.
 */
function hasPeers(port: number): boolean {
  return cluster.isWorker && process.platform === 'linux' && port !== 0
}

const reasons: Record<number, string> = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }

/** How long the sender of something that is not HTTP may go on before they are cut off. */
const patience = 1_000

function refuseMalformed(server: Server, options: ListenOptions) {
  const refused = new WeakSet<Duplex>()

  function refuse(socket: Duplex, status: number) {
    if (!socket.writable) return socket.destroy()
    const { contentType, body, headers = {} } = options.malformed(status)
    const lines = Object.entries({
      connection: 'close',
      ...(body === '' ? {} : { 'content-type': contentType }),
      'content-length': Buffer.byteLength(body),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`)
    socket.end(`HTTP/1.1 ${status} ${reasons[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    // A sender who is still talking would lose the answer if we hung up at once, and must not hold the connection either.
    socket.resume()
    return setTimeout(() => socket.destroy(), patience).unref()
  }

  server.on('clientError', (problem: Error & { code?: string }, socket) => {
    // Whatever else comes is part of the same nonsense.
    if (refused.has(socket)) return
    refused.add(socket)
    const status = problem.code === 'HPE_HEADER_OVERFLOW' ? 431 : problem.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
    afterEarlier(socket as Busy, () => refuse(socket, status))
  })
  // Nobody is given a tunnel.
  server.on('connect', (_, socket) => void refuse(socket, 400))
}

type Busy = Socket & { _httpMessage?: (ServerResponse & { req: { complete: boolean } }) | null }

/** A whole request that came before on the same connection is still to be answered, and answers must not overtake each other. */
function afterEarlier(socket: Busy, then: () => void) {
  const earlier = socket._httpMessage
  if (earlier?.req.complete && !earlier.writableEnded) earlier.once('close', () => afterEarlier(socket, then))
  else then()
}

export function wordListenProblem(
  problem: Error & { code?: string },
  { host, port, portSetting }: Pick<ListenOptions, 'host' | 'port' | 'portSetting'>,
): Error {
  if (problem.code === 'EADDRINUSE')
    return new ListenProblem(`Port ${port} is taken by another program. Stop that program, or set ${portSetting} to a free port.`)
  if (problem.code === 'EACCES')
    return new ListenProblem(`Port ${port} may not be used by this user. Set ${portSetting} to a port above 1023.`)
  if (problem.code === 'EADDRNOTAVAIL' || problem.code === 'ENOTFOUND')
    return new ListenProblem(`${host} is not an address of this machine.`)
  return problem
}

/** Connections on which nothing has been asked yet: to node:http they are busy, and would hold up the end. */
function watchSilent(server: Server): () => Socket[] {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return () => [...sockets].filter((socket) => socket.bytesRead === 0)
}

/**
 * Callers who keep their connection are not cut off at once: the request that they may be sending this very moment is answered,
 * and its answer asks them to go (see `leaving` in serve.ts).
 */
const farewell = 500

async function drain(server: Server, silent: () => Socket[], seconds: number) {
  const closed = new Promise<void>((resolve) => {
    // Not node:http's own close, which cuts idle connections at once.
    NetServer.prototype.close.call(server, () => resolve())
  })
  const sweep = () => {
    server.closeIdleConnections()
    for (const socket of silent()) socket.destroy()
  }
  let sweeping: NodeJS.Timeout | undefined
  const begin = setTimeout(
    () => {
      sweep()
      sweeping = setInterval(sweep, 50)
    },
    Math.min(farewell, seconds * 500),
  )
  const cut = setTimeout(() => server.closeAllConnections(), seconds * 1000)
  await closed
  clearTimeout(begin)
  clearInterval(sweeping)
  clearTimeout(cut)
  // Ends its own timers, too.
  server.close()
}
