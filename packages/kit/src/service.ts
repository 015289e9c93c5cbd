import type { TSchema } from 'typebox'
import { type Clock, systemClock } from './clock.ts'
import { type Db, openDb, type Schema } from './db.ts'
import { documentEndpoints } from './documents.ts'
import type { Endpoint, Incoming } from './endpoint.ts'
import type { Settings } from './env.ts'
import type { FailureTable } from './failure.ts'
import { listen } from './listen.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { type Migration, migrate } from './migrate.ts'
import type { ApiDescription } from './openapi.ts'
import { beginLeaving, isLeaving } from './readiness.ts'
import { headersOf, type Manner } from './serve/manner.ts'
import { createHandler } from './serve.ts'
import { affordableWorkers, type ServiceConfig } from './service-settings.ts'
import type { Telemetry, TelemetrySettings } from './telemetry.ts'
import { version } from './version.ts'

/** A service as a value: what the command line, the development mode, the tests and the documents are all read off. */
export type Service<Config extends ServiceConfig = ServiceConfig, App = unknown> = {
  name: string
  title: string
  description: string
  /** The schema that its statements are written for. */
  schema: string
  settings: Settings<Config>
  migrations: readonly Migration[]
  endpoints: readonly Endpoint<App>[]
  failures: FailureTable
  failureShape(status: number, path: string): TSchema
  /** How a refusal is written on the wire, in words for docs/errors.md. */
  failureNotes: string
  bodyTypes: readonly string[]
  /** The resource attribute that carries the version in traces. */
  versionAttribute: string
  manner(config: Config): Manner
  open(parts: Parts<Config>): App
  /** Ends what `open` began: loops, connections to outsiders. Requests have been answered by then, and the database is still there. */
  close?(app: App): Promise<void>
}

export type Parts<Config> = {
  config: Config
  db: Db
  log: Log
  now: Clock
  /** Where nobody wants them there are none. */
  metrics: Metrics | undefined
}

export type Running<App> = {
  app: App
  port: number
  /** Lets requests in flight finish for some seconds, then closes everything. */
  stop(seconds: number): Promise<void>
}

export type StartOptions = { log: Log; telemetry: Telemetry; now?: Clock; strict?: boolean }

export async function startService<Config extends ServiceConfig, App>(
  service: Service<Config, App>,
  config: Config,
  { log, telemetry, now = systemClock, strict = false }: StartOptions,
): Promise<Running<App>> {
  const db = openDb({
    url: config.db.url.reveal(),
    schema: schemaOf(service, config),
    name: `tollgate-${service.name}`,
    primaryOnly: true,
    ...connectionShare(config),
  })
  const app = service.open({ config, db, log, now, metrics: telemetry.metrics })
  const manner = service.manner(config)
  const endpoints = [...service.endpoints, ...documentEndpoints(describe(service))]
  const handler = createHandler<App>({ app, endpoints, manner, log, telemetry, strict, leaving: () => isLeaving(db) })
  try {
    const listening = await listen({
      host: config.api.host,
      port: config.api.port,
      handler,
      portSetting: `${service.settings.family.prefix}_API_PORT`,
      malformed(status) {
        const id = manner.requestId.mint()
        log.info({ request_id: id, status }, 'not an HTTP request')
        const wire = manner.word(manner.fail('bad_request', { status }), { ...nobody, id })
        const headers = headersOf(wire, { id, path: '', origin: undefined }, manner)
        return { body: String(wire.body ?? ''), contentType: wire.contentType ?? manner.contentType, headers }
      },
      trouble: (problem) => log.error({ error: problem }, 'connections cannot be taken'),
    })
    return {
      app,
      port: listening.port,
      async stop(seconds) {
        beginLeaving(db)
        await listening.drain(seconds)
        await service.close?.(app)
        await db.close()
      },
    }
  } catch (problem) {
    await service.close?.(app)
    await db.close()
    throw problem
  }
}

/** A request that never became one. */
const nobody: Incoming = { id: '', method: 'GET', path: '', query: '', headers: { accept: '*/*' }, peer: '' }

/** Brings the service's tables up to date and names the migrations that it took. */
export function migrateService<Config extends ServiceConfig>(service: Service<Config>, config: Config): Promise<string[]> {
  return migrate({ url: config.db.url.reveal(), schema: schemaOf(service, config), migrations: service.migrations })
}

export function describe(
  service: Pick<Service, 'title' | 'description' | 'endpoints' | 'failures' | 'failureShape' | 'bodyTypes'>,
): ApiDescription {
  const { title, description, failures, failureShape, bodyTypes } = service
  return { title, version, description, failures, failureShape, bodyTypes, endpoints: service.endpoints }
}

export function telemetrySettings<Config extends ServiceConfig>(service: Service<Config>, config: Config): TelemetrySettings {
  const { tracing, metrics, metricsExporter, exportInterval } = config.telemetry
  return {
    service: `tollgate-${service.name}`,
    version,
    versionAttribute: service.versionAttribute,
    tracing,
    metrics: metrics ? metricsExporter : 'off',
    exportInterval,
  }
}

function schemaOf(service: { schema: string }, config: ServiceConfig): Schema {
  return { written: service.schema, actual: config.db.namespace }
}

/** What we choose by ourselves, both services together, stays below the 100 connections that a PostgreSQL takes unless it is told otherwise. */
const modest = { together: 48, worker: 16 }

/** DB_MAX_POOL_SIZE is for all workers together; every one of them needs a shared connection and one for transactions. */
function connectionShare(config: ServiceConfig): { lanes: number; writeLanes: number; poolSize: number } {
  const workers = affordableWorkers(config)
  const most = config.db.maxPoolSize || Math.min(modest.together, modest.worker * workers)
  const share = Math.max(2, Math.floor(most / workers))
  const lanes = share >= 4 ? 2 : 1
  const writeLanes = share >= 8 ? Math.floor(share / 2) - lanes : 0
  return { lanes, writeLanes, poolSize: share - lanes - writeLanes }
}
