import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import pg from 'pg'
import { inject } from 'vitest'
import type { Clock } from './clock.ts'
import type { Env } from './env.ts'
import { createLog, type Log } from './log.ts'
import { type Service, startService } from './service.ts'
import type { ServiceConfig } from './service-settings.ts'
import type { Telemetry } from './telemetry.ts'

export type ScratchDatabase = { url: string; drop(): Promise<void> }

/** A database of one's own, copied from a template in milliseconds. */
export async function scratchDatabase(template: 'template1' | `template_${string}` = 'template1'): Promise<ScratchDatabase> {
  const server = inject('postgres')
  const name = `scratch_${randomBytes(8).toString('hex')}`
  await administer(server, `create database ${name} template ${template}`)
  return { url: databaseUrl(server, name), drop: () => administer(server, `drop database ${name} with (force)`) }
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
  call: Call
  origin: string
  now: StillClock
  lines: LogLine[]
  stop(): Promise<void>
}

/** A service on a port and a database of its own. A failure that its endpoint does not name is answered with a 500. */
export async function testService<Config extends ServiceConfig, App>(
  service: Service<Config, App>,
  env: Env,
  options: { telemetry?: Telemetry } = {},
): Promise<TestedService<App>> {
  const database = await scratchDatabase(`template_${service.name}`)
  const { prefix } = service.settings.family
  const { config } = service.settings.read({
    [`${prefix}_API_HOST`]: '127.0.0.1',
    [`${prefix}_API_PORT`]: '0',
    DATABASE_URL: database.url,
    ...env,
  })
  const { log, lines } = keptLog()
  const now = stillClock()
  const running = await startService(service, config, { log, telemetry: options.telemetry ?? noTelemetry, now, strict: true })
  const origin = `http://127.0.0.1:${running.port}`
  return {
    app: running.app,
    call: caller(origin),
    origin,
    now,
    lines,
    async stop() {
      await running.stop(0)
      await database.drop()
    },
  }
}
