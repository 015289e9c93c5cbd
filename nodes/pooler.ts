import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import { messageSplitter } from '../torture/backend-messages.ts'
import { createRewriter, type Known, type Request } from './prepared.ts'
import { sessionState } from './session-state.ts'
import {
  asks,
  fatal,
  message,
  number,
  type Opening,
  readOpening,
  readParameters,
  readText,
  writeOpening,
  writeParameters,
} from './wire.ts'

export type PoolerOptions = {
  /** The server as a connection string. It must take our word for who we are. */
  server: string
  /** Connections to the server for every database. */
  size?: number
  /** Statements that a connection to the server keeps prepared. None: names are passed on as they come, and mean what they mean there. */
  prepared?: number
}

export type Pooler = {
  port: number
  /** How often a connection to a server was handed to a client, and how many there are. */
  tally: { handed: number; servers: number }
  close(): Promise<void>
}

/** What PgBouncer keeps for a client and tells every server connection that it hands it. */
const tracked = new Set(['application_name', 'client_encoding', 'datestyle', 'timezone', 'standard_conforming_strings'])

type Client = {
  socket: Socket
  pool: Pool
  known: Known
  settings: Map<string, string>
  waiting: Buffer[]
  server: Server | undefined
  queued: boolean
}

type Server = {
  socket: Socket
  key: Buffer
  /** What was asked and is not answered yet, in order. */
  asked: Request[]
  prepared: Map<string, Buffer>
  client: Client | undefined
  inTransaction: boolean
}

type Pool = {
  user: string
  database: string
  clients: Set<Client>
  servers: Set<Server>
  opening: number
  idle: Server[]
  queue: Client[]
  /** What the server tells everybody who comes. */
  welcome: Promise<Buffer> | undefined
}

/**
 * A connection pooler in transaction mode, after PgBouncer's, for tests: a client has a connection to the server from the first word of a
 * transaction to its end, and each time another one. It is stricter, so that nobody can rely on a session by chance: connections go round,
 * there are two from the start, each is made to forget its session before it is handed on, and what would need a session is refused.
 */
export async function startPooler({ server: upstream, size = 4, prepared = 200 }: PoolerOptions): Promise<Pooler> {
  const pools = new Map<string, Pool>()
  const sockets = new Set<Socket>()
  const cancels = new Map<string, Client>()
  const tally = { handed: 0, servers: 0 }
  const rewrite = createRewriter(prepared)

  function poolOf(user: string, database: string): Pool {
    const there = pools.get(keyOf({ user, database }))
    if (there) return there
    const pool: Pool = {
      user,
      database,
      clients: new Set(),
      servers: new Set(),
      opening: 0,
      idle: [],
      queue: [],
      welcome: undefined,
    }
    pools.set(keyOf(pool), pool)
    return pool
  }

  function watched(socket: Socket): Socket {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    return socket
  }

  /** Opens a connection to the server. A refusal is what the server said. */
  async function openServer(pool: Pool): Promise<{ server: Server; welcome: Buffer }> {
    const socket = watched(connect(placeOf(upstream)))
    const words: [string, string][] = [
      ['user', pool.user],
      ['database', pool.database],
    ]
    socket.write(writeOpening(asks.session, writeParameters(words)))
    const split = messageSplitter()
    const welcome: Buffer[] = []
    let key: Buffer = Buffer.alloc(8)
    for (;;) {
      const chunk = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [undefined])]))[0] as
        | Buffer
        | undefined
      if (!chunk) throw fatal('08006', 'the server cannot be reached')
      for (const { type, bytes } of split(chunk)) {
        if (type === 'E') throw bytes
        if (type === 'R' && bytes.readInt32BE(5) !== 0)
          throw fatal('28000', 'the server wants a password, which this pooler has not')
        if (type === 'S') welcome.push(bytes)
        if (type === 'K') key = bytes.subarray(5)
        if (type !== 'Z') continue
        const server: Server = { socket, key, asked: [], prepared: new Map(), client: undefined, inTransaction: false }
        listenTo(server, pool)
        pool.servers.add(server)
        tally.servers++
        return { server, welcome: Buffer.concat(welcome) }
      }
    }
  }

  function listenTo(server: Server, pool: Pool) {
    const split = messageSplitter()
    server.socket.on('data', (chunk) => {
      const answers: Buffer[] = []
      const { client } = server
      for (const { type, bytes } of split(chunk)) answers.push(...heard(server, type, bytes))
      if (client?.socket.writable && answers.length > 0) client.socket.write(Buffer.concat(answers))
      if (server.asked.length === 0 && !server.inTransaction && server.client) release(server, pool)
    })
    server.socket.once('close', () => {
      pool.servers.delete(server)
      pool.idle = pool.idle.filter((each) => each !== server)
      tally.servers--
      if (server.client) dismiss(server.client, '08P01', 'server conn crashed?')
      serve(pool)
    })
  }

  /** What of an answer goes to the client. */
  function heard(server: Server, type: string, bytes: Buffer): Buffer[] {
    const [asked] = server.asked
    if (type === 'E') {
      // The server skips everything up to the next Sync, and so none of it is answered.
      while (server.asked[0] && !server.asked[0].ends.includes('Z')) server.asked.shift()?.failed?.(server.prepared)
      // A setting of the client's that the server does not take.
      if (asked?.silent && asked.ends.includes('Z') && server.client) return endWith(server.client, bytes)
      return [bytes]
    }
    const passed = asked?.silent ? [] : [bytes]
    if ('NSA'.includes(type)) return passed
    if (type === 'Z') server.inTransaction = bytes[5] !== 'I'.charCodeAt(0)
    if (!asked?.ends.includes(type)) return passed
    server.asked.shift()
    return [...passed, ...made(server)]
  }

  /** Answers that the client expects here, to what the server was never asked. */
  function made(server: Server): Buffer[] {
    const answers: Buffer[] = []
    for (let next = server.asked[0]; next?.answer; next = server.asked[0]) {
      answers.push(next.answer)
      server.asked.shift()
    }
    return answers
  }

  function release(server: Server, pool: Pool) {
    if (server.client) server.client.server = undefined
    server.client = undefined
    pool.idle.push(server)
    serve(pool)
  }

  /** Hands idle connections to those who wait, and opens more while there may be more. */
  function serve(pool: Pool) {
    while (pool.queue.length > 0 && pool.idle.length > 0 && pool.servers.size >= Math.min(2, size)) {
      const client = pool.queue.shift() as Client
      client.queued = false
      hand(pool.idle.shift() as Server, client)
    }
    const wanted = pool.queue.length - pool.idle.length
    if (pool.queue.length > 0 && pool.servers.size + pool.opening < (wanted > 0 ? size : Math.min(2, size))) void grow(pool)
  }

  async function grow(pool: Pool) {
    pool.opening++
    try {
      const { server } = await openServer(pool)
      pool.idle.push(server)
    } catch (refusal) {
      for (const client of pool.queue.splice(0))
        client.socket.end(Buffer.isBuffer(refusal) ? refusal : fatal('08006', String(refusal)))
    } finally {
      pool.opening--
    }
    if (pool.clients.size === 0) return dissolve(pool)
    serve(pool)
  }

  function hand(server: Server, client: Client) {
    tally.handed++
    server.client = client
    client.server = server
    const settings = [['role', 'none'], ...client.settings].map((pair) => `set_config(${pair.map(quoted).join()}, false)`)
    server.asked.push({ ends: 'Z', silent: true })
    server.socket.write(message('Q', `reset all; select pg_advisory_unlock_all(), ${settings.join()}`, '\0'))
    for (const bytes of client.waiting.splice(0)) ask(server, client, bytes)
  }

  function ask(server: Server, client: Client, bytes: Buffer) {
    const type = String.fromCharCode(bytes[0] as number)
    const refused = refusalOf(type, bytes)
    if (refused) return dismiss(client, '0A000', `${refused} needs a session, and through this pooler there is none`)
    const { requests, forward, broken } = rewrite(type, bytes, client.known, server.prepared)
    if (broken) return dismiss(client, '08P01', broken)
    server.asked.push(...requests)
    if (forward.length > 0) server.socket.write(Buffer.concat(forward))
    const answers = server.asked[0]?.answer ? made(server) : []
    if (answers.length > 0) client.socket.write(Buffer.concat(answers))
  }

  function said(client: Client, type: string, bytes: Buffer) {
    if (type === 'X') return client.socket.end()
    if (client.server) return ask(client.server, client, bytes)
    client.waiting.push(bytes)
    if (client.queued) return
    client.queued = true
    client.pool.queue.push(client)
    serve(client.pool)
  }

  function dismiss(client: Client, code: string, text: string) {
    endWith(client, fatal(code, text))
  }

  function endWith(client: Client, refusal: Buffer): [] {
    client.socket.end(refusal)
    leave(client)
    return []
  }

  /** A connection in the middle of something is of no use to anybody else. */
  function leave(client: Client) {
    const { server, pool } = client
    client.server = undefined
    client.waiting = []
    pool.queue = pool.queue.filter((each) => each !== client)
    pool.clients.delete(client)
    if (server) {
      server.client = undefined
      server.socket.destroy()
    }
    if (pool.clients.size === 0 && pool.opening === 0) dissolve(pool)
  }

  function dissolve(pool: Pool) {
    for (const server of pool.servers) server.socket.destroy()
    if (pools.get(keyOf(pool)) === pool) pools.delete(keyOf(pool))
  }

  async function welcome(socket: Socket, { rest }: Opening, behind: Buffer) {
    const parameters = readParameters(rest)
    const user = parameters.get('user') ?? ''
    const strange = [...parameters.keys()].find(
      (name) => !['user', 'database'].includes(name) && !tracked.has(name.toLowerCase()),
    )
    if (strange) return void socket.end(fatal('08P01', `unsupported startup parameter: ${strange}`))
    const pool = poolOf(user, parameters.get('database') ?? user)
    const settings = new Map([...parameters].filter(([name]) => tracked.has(name.toLowerCase())))
    const client: Client = { socket, pool, known: new Map(), settings, waiting: [], server: undefined, queued: false }
    pool.clients.add(client)
    socket.pause()
    let told: Buffer
    try {
      pool.welcome ??= firstWelcome(pool)
      told = await pool.welcome
    } catch (refusal) {
      pool.welcome = undefined
      leave(client)
      return void socket.end(Buffer.isBuffer(refusal) ? refusal : fatal('08006', String(refusal)))
    }
    if (socket.destroyed) return leave(client)
    const key = Buffer.concat([number(randomInt(2 ** 31)), number(randomInt(2 ** 31))])
    cancels.set(key.toString('hex'), client)
    socket.once('close', () => {
      cancels.delete(key.toString('hex'))
      leave(client)
    })
    socket.write(Buffer.concat([message('R', number(0)), told, message('K', key), message('Z', 'I')]))
    const split = messageSplitter()
    const hear = (chunk: Buffer) => {
      for (const { type, bytes } of split(chunk)) if (pool.clients.has(client)) said(client, type, bytes)
    }
    hear(behind)
    socket.on('data', hear)
    socket.resume()
  }

  async function firstWelcome(pool: Pool): Promise<Buffer> {
    pool.opening++
    try {
      const opened = await openServer(pool)
      pool.idle.push(opened.server)
      return opened.welcome
    } finally {
      pool.opening--
    }
  }

  function cancel({ rest }: Opening) {
    const server = cancels.get(rest.toString('hex'))?.server
    if (!server) return
    const socket = watched(connect(placeOf(upstream)))
    socket.end(writeOpening(asks.cancel, server.key))
  }

  const listener = createServer((socket) => {
    watched(socket)
    let bytes: Buffer = Buffer.alloc(0)
    const open = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const read = readOpening(bytes)
      if (!read) return
      const { opening, behind } = read
      bytes = behind
      if (opening.code === asks.tls || opening.code === asks.gss) return void socket.write('N')
      socket.off('data', open)
      if (opening.code === asks.cancel) {
        cancel(opening)
        return void socket.end()
      }
      if (opening.code !== asks.session) return void socket.end(fatal('08P01', 'unsupported protocol version'))
      void welcome(socket, opening, behind)
    }
    socket.on('data', open)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')

  return {
    port: (listener.address() as AddressInfo).port,
    tally,
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function keyOf({ user, database }: { user: string; database: string }): string {
  return `${user}\0${database}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** What keeps a command from being passed on. */
function refusalOf(type: string, bytes: Buffer): string | undefined {
  if (type === 'Q') return sessionState(readText(bytes, 5).text)
  if (type === 'P') return sessionState(readText(bytes, readText(bytes, 5).next).text)
  return undefined
}

function placeOf(url: string): NetConnectOpts {
  const { hostname, port, searchParams } = new URL(url)
  const folder = searchParams.get('host')
  const number = Number(port || 5432)
  return folder?.startsWith('/') ? { path: `${folder}/.s.PGSQL.${number}` } : { host: hostname, port: number }
}
