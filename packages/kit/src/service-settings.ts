import { availableParallelism } from 'node:os'
import type { Read } from './env.ts'
import { isHeaderName } from './header-names.ts'
import { logLevels } from './log.ts'

/** The settings that every service has, so that whoever runs one can run the other. */
export function serviceSettings(
  read: Read,
  own: { port: number; namespace: string; bareNamespace: boolean; driverRequired: boolean },
) {
  return {
    api: read.group('Address', () => ({
      host: read.text('API_HOST', '0.0.0.0', 'The address to listen on'),
      port: read.whole('API_PORT', own.port, 'The port to listen on', { also: ['PORT'], bare: true, min: 0, max: 65_535 }),
      longestRequest: read.seconds(
        'API_MAX_REQUEST_DURATION',
        10,
        'After this time a request is answered with 504; 0 for no limit',
        { max: 86_400 },
      ),
      requestIdHeader: read.parsed(
        'header',
        'REQUEST_ID_HEADER',
        undefined,
        'The incoming header from which a request inherits its id',
        (text) => (isHeaderName(text) ? text : { expected: 'the name of a header' }),
        { bare: true, example: 'X-Request-Id' },
      ),
      workers: read.whole('WORKERS', availableParallelism(), 'Processes that share the port; the default is one a core', {
        bare: true,
        min: 1,
        max: 256,
        shown: 'the number of cores',
      }),
    })),

    db: read.group('Database', () => ({
      driver: read.choice('DB_DRIVER', ['postgres'], 'postgres', 'The kind of database', {
        required: own.driverRequired,
        example: 'postgres',
      }),
      url: read.requiredSecret('DB_DATABASE_URL', 'The connection string of the database', {
        also: ['DATABASE_URL'],
        bare: true,
        example: 'postgres://user:password@host:5432/name',
      }),
      maxPoolSize: read.parsed(
        'whole number',
        'DB_MAX_POOL_SIZE',
        0,
        'The most connections that all workers together keep, at two or more each; 0 lets the service choose',
        (text) => (/^(0|[2-9]|[1-9]\d{1,5})$/.test(text) ? Number(text) : { expected: '0 or a whole number from 2 up' }),
        { shown: '0', example: '20' },
      ),
      namespace: read.parsed('name', 'DB_NAMESPACE', own.namespace, 'The schema that holds the tables', parseNamespace, {
        shown: own.namespace,
        bare: own.bareNamespace,
      }),
    })),

    log: read.group('Logging', () => ({
      level: read.choice('LOG_LEVEL', logLevels, 'info', 'The least grave level that is written', { bare: true }),
      file: read.text('LOG_FILE', undefined, 'A file to append the log to, instead of standard output'),
    })),

    telemetry: read.group('Traces and metrics', () => ({
      tracing: read.flag('TRACING_ENABLED', false, 'Export a trace of every request'),
      tracingExporter: read.choice('TRACING_EXPORTER', ['opentelemetry'], 'opentelemetry', 'Where traces go'),
      metrics: read.flag('METRICS_ENABLED', false, 'Export metrics of the process and of its requests'),
      metricsExporter: read.choice(
        'METRICS_EXPORTER',
        ['opentelemetry', 'prometheus'],
        'opentelemetry',
        'How metrics leave: pushed over OTLP, or scraped',
      ),
      prometheusHost: read.text(
        'OTEL_EXPORTER_PROMETHEUS_HOST',
        '0.0.0.0',
        'The address of the scrape endpoint, whose path is /',
        { bare: true },
      ),
      prometheusPort: read.whole('OTEL_EXPORTER_PROMETHEUS_PORT', 9100, 'The port of the scrape endpoint', {
        bare: true,
        min: 0,
        max: 65_535,
      }),
      protocol: read.choice('OTEL_EXPORTER_OTLP_PROTOCOL', ['http/protobuf'], 'http/protobuf', 'How OTLP is spoken', {
        bare: true,
      }),
      exportInterval: read.whole('OTEL_METRIC_EXPORT_INTERVAL', 15_000, 'Milliseconds between two pushes of metrics over OTLP', {
        bare: true,
        min: 100,
      }),
    })),
  }
}

export type ServiceConfig = ReturnType<typeof serviceSettings>

function parseNamespace(text: string) {
  // PostgreSQL keeps names that begin with pg_ to itself.
  return /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(text) ? text : { expected: 'a schema name of small letters, digits and _' }
}

/** How many workers there may be: each needs two connections, so a small DB_MAX_POOL_SIZE makes them fewer. */
export function affordableWorkers({ api, db }: ServiceConfig): number {
  return db.maxPoolSize === 0 ? api.workers : Math.min(api.workers, Math.floor(db.maxPoolSize / 2))
}
