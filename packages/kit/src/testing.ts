import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import pg from 'pg'
import { inject } from 'vitest'
import { startBalancer } from '../../../nodes/balancer.ts'
import type { Clock } from './clock.ts'
import type { Env } from './env.ts'
import { createLog, type Log } from './log.ts'
import { type Running, type Service, startService } from './service.ts'
import type { ServiceConfig } from './service-settings.ts'
import type { Telemetry } from './telemetry.ts'

export type ScratchDatabase = {
  url: string
  /** Past the pooler where there is one, for what needs a session: dumps, and looking at the server itself. */
  directUrl: string
  drop(): Promise<void>
}

/** A database of one's own, copied from a template in milliseconds. In a run on several nodes it is reached through a pooler. */
export async function scratchDatabase(template: 'template1' | `template_${string}` = 'template1'): Promise<ScratchDatabase> {
  const server = inject('postgres')
  const name = `scratch_${randomBytes(8).toString('hex')}`
  await administer(server, `create database ${name} template ${template}`)
  const directUrl = databaseUrl(server, name)
  const pooler = single.getStore() ? undefined : inject('spread')?.pooler
  return {
    url: pooler ? databaseUrl(pooler, name) : directUrl,
    directUrl,
    drop: () => administer(server, `drop database ${name} with (force)`),
  }
}

async function administer(server: string, statement: string) {
  const client = new pg.Client(server)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export type StillClock = Clock & { advance(seconds: number): void }

/** A clock that moves only when it is told to. */
export function stillClock(start = '2030-01-02T03:04:05.678Z'): StillClock {
  let moment = Date.parse(start)
  return Object.assign(() => new Date(moment), {
    advance(seconds: number) {
      moment += seconds * 1000
    },
  })
}

export type LogLine = { level: string; message: string; [field: string]: unknown }

/** A log that is kept instead of written. */
export function keptLog(): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = []
  return {
    lines,
    log: createLog({ level: 'debug', service: 'test', sink: { write: (line) => void lines.push(JSON.parse(line)), flush() {} } }),
  }
}

export const noTelemetry: Telemetry = {
  metrics: undefined,
  startSpan: undefined,
  snapshot: () => undefined,
  stop: async () => {},
}

export type Call = (what: string, options?: CallOptions) => Promise<Called>

export type CallOptions = {
  headers?: Record<string, string>
  json?: unknown
  form?: Record<string, string>
  /** Sent as it is. */
  raw?: string | Buffer
}

export type Called = {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  json<T = Record<string, unknown>>(): T
}

/** `call('POST /apps', { json: { name: 'Shop' } })` over real HTTP. */
export function caller(origin: string): Call {
  return (what, options = {}) => {
    const [method = 'GET', path = '/'] = what.split(' ')
    const [body, type] = bodyOf(options)
    const headers = {
      ...(type ? { 'content-type': type } : {}),
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...options.headers,
    }
    return new Promise((resolve, reject) => {
      const asked = request(`${origin}${path}`, { method, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) })
        })
      })
      asked.on('error', reject)
      asked.end(body)
    })
  }
}

function bodyOf({ json, form, raw }: CallOptions): [string | Buffer | undefined, string | undefined] {
  if (json !== undefined) return [JSON.stringify(json), 'application/json']
  if (form !== undefined) return [new URLSearchParams(form).toString(), 'application/x-www-form-urlencoded']
  return [raw, undefined]
}

export type Gate<Input, Output> = {
  /** What to hand in: it tells that it was called, and goes on when it is let. */
  enter(input: Input): Promise<Output>
  /** The input of the first call, or of the one of this number, whether it came already or is to come. */
  entered(number?: number): Promise<Input>
  inputs: Input[]
  leave(number: number, output: Output): void
  fail(number: number, problem: Error): void
}

/** For catching something in the middle of what it does, without any waiting for time to pass. */
export function gate<Input = void, Output = void>(): Gate<Input, Output> {
  const inputs: Input[] = []
  const inside: PromiseWithResolvers<Output>[] = []
  const arrivals = new EventEmitter()
  return {
    inputs,
    enter(input) {
      const passage = Promise.withResolvers<Output>()
      inputs.push(input)
      inside.push(passage)
      arrivals.emit('arrival')
      return passage.promise
    },
    async entered(number = 1) {
      while (inputs.length < number) await once(arrivals, 'arrival')
      return inputs[number - 1] as Input
    },
    leave: (number, output) => inside[number - 1]?.resolve(output),
    fail: (number, problem) => inside[number - 1]?.reject(problem),
  }
}

/** Says bytes over a bare connection, and answers with all that came back until the other side hung up. */
export async function say(origin: string, ...parts: (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const heard: Buffer[] = []
  socket.on('data', (chunk) => heard.push(chunk))
  // Whoever hangs up on a sender may take what is still under way along; what was heard is what counts.
  socket.on('error', () => {})
  for (const part of parts) socket.write(part)
  await once(socket, 'close')
  return Buffer.concat(heard).toString('latin1')
}

export type TestedService<App> = {
  app: App
  /** Those of all nodes: for what counts, or changes, something in the memory of each. */
  apps: readonly App[]
  call: Call
  origin: string
  now: StillClock
  lines: LogLine[]
  stop(): Promise<void>
}

const single = new AsyncLocalStorage<string>()

/**
 * For what means one process on PostgreSQL itself, even in a run on several nodes: a test that reaches into a process's memory, or that counts
 * connections. What is started inside is alone, and the reason is for the reader.
 */
export function oneProcess<T>(reason: string, start: () => Promise<T>): Promise<T> {
  return single.run(reason, start)
}

/**
 * A service on a port and a database of its own. A failure that its endpoint does not name is answered with a 500. In a run on several nodes
 * it is as many services behind a balancer; the app is that of the first, the clock and the log are common to all.
 */
export async function testService<Config extends ServiceConfig, App>(
  service: Service<Config, App>,
  env: Env,
  options: { telemetry?: Telemetry } = {},
): Promise<TestedService<App>> {
  const database = await scratchDatabase(`template_${service.name}`)
  const { prefix } = service.settings.family
  const { log, lines } = keptLog()
  const now = stillClock()
  // Telemetry that is handed in is that of one process.
  const nodes = single.getStore() || options.telemetry ? 1 : (inject('spread')?.nodes ?? 1)
  const portName = `${prefix}_API_PORT`
  const start = () => {
    const { config } = service.settings.read({
      [`${prefix}_API_HOST`]: '127.0.0.1',
      DATABASE_URL: database.url,
      ...env,
      // Of several it is the balancer who listens where the service is looked for.
      [portName]: nodes > 1 ? '0' : (env[portName] ?? '0'),
    })
    return startService(service, config, { log, telemetry: options.telemetry ?? noTelemetry, now, strict: true })
  }
  const first = await start()
  const others: Running<App>[] = []
  while (others.length < nodes - 1) others.push(await start())
  const running = [first, ...others]
  const ports = running.map(({ port }) => port)
  const balancer = nodes > 1 ? await startBalancer(ports, Number(env[portName] ?? 0)) : undefined
  const origin = `http://127.0.0.1:${balancer?.port ?? first.port}`
  return {
    app: first.app,
    apps: running.map(({ app }) => app),
    call: caller(origin),
    origin,
    now,
    lines,
    async stop() {
      await Promise.all(running.map((each) => each.stop(0)))
      await balancer?.close()
      await database.drop()
    },
  }
}
