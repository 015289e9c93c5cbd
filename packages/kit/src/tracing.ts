/** All that speaks OpenTelemetry stands here, so that it is loaded only when somebody asked for it. */

import { randomUUID } from 'node:crypto'
import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  ValueType,
} from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Family, Metrics } from './metrics.ts'

export type ExportSettings = {
  /** Becomes `service.name` unless OTEL_SERVICE_NAME says otherwise. */
  service: string
  version: string
  /** The resource attribute that holds the version: `auth.version`, `pay.version`. */
  versionAttribute: string
  tracing: boolean
  /**
   * Base address of the collector. Left out, OpenTelemetry reads OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _COMPRESSION,
   * _CERTIFICATE and their _TRACES_ and _METRICS_ variants itself; given, it wins over every address among them.
   */
  endpoint?: string | undefined
  /** Milliseconds between two pushes of metrics: OTEL_METRIC_EXPORT_INTERVAL, which the SDK does not read by itself. */
  exportInterval?: number | undefined
  /** Hears of a collector that does not take our data, at most once a minute. */
  warn?: ((message: string) => void) | undefined
}

export type SpanRequest = {
  method: string
  /** As declared, with its placeholders: `/admin/users/{user_id}`; `unmatched` when nothing is. */
  route: string
  /** They leave for the collector as they come: a secret in a path (a code, a token) must be left out by the caller. */
  params: Record<string, string>
  traceparent: string | undefined
  tracestate?: string | undefined
}

export type RequestSpan = {
  traceId: string
  spanId: string
  end(outcome: { status: number; error?: unknown }): void
}

export type Exports = { startSpan: ((request: SpanRequest) => RequestSpan) | undefined; stop(): Promise<unknown> }

export function startExports(settings: ExportSettings, metrics: Metrics | undefined): Exports {
  const resource = describe(settings)
  const complain = onceAMinute(settings.warn)
  const traces = settings.tracing ? startTraces(settings, resource, complain) : undefined
  const reader = metrics && pushMetrics(settings, resource, metrics, complain)
  return {
    startSpan: traces?.startSpan,
    // What could not be sent has been complained about already.
    stop: () => Promise.allSettled([traces?.provider.shutdown(), reader?.shutdown()]),
  }
}

/** The environment has the last word, as OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are how operators tell deployments apart. */
function describe({ service, version, versionAttribute }: ExportSettings): Resource {
  const own = resourceFromAttributes({
    'service.name': service,
    'service.version': version,
    'service.instance.id': randomUUID(),
    [versionAttribute]: version,
  })
  const environment = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })
  return defaultResource().merge(own).merge(environment)
}

function startTraces(settings: ExportSettings, resource: Resource, complain: Complain) {
  const exporter = watched(new OTLPTraceExporter(address(settings, 'v1/traces')), complain)
  // A queue for a second of heavy traffic; what does not fit is dropped rather than held.
  const provider = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: 8192 })] })
  const tracer = provider.getTracer('tollgate', settings.version)

  function startSpan({ method, route, params, traceparent, tracestate }: SpanRequest): RequestSpan {
    const attributes: Attributes = { 'http.method': method, 'http.route': route }
    for (const key in params) attributes[`http.route.params.${key}`] = params[key]
    const parent = parentOf(traceparent, tracestate)
    const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent)
    const { traceId, spanId } = span.spanContext()
    return {
      traceId,
      spanId,
      end({ status, error }) {
        span.setAttribute('http.response.status_code', status)
        // Only the kind of error: nobody can vouch that its message or stack holds no secret.
        if (error !== undefined) span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
  }
  return { provider, startSpan }
}

/**
 * https://www.w3.org/TR/trace-context/#traceparent-header: later versions may append fields, version 00 may not, ff is forbidden.
 * Ids of nothing but zeros are turned down by the SDK.
 */
const wellFormed = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

function parentOf(traceparent: string | undefined, tracestate: string | undefined): Context {
  const [, version, traceId, spanId, flags, more] = (traceparent && wellFormed.exec(traceparent)) || []
  if (!traceId || !spanId || !flags || (version === '00' && more)) return ROOT_CONTEXT
  const parent: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  if (tracestate) parent.traceState = createTraceState(tracestate)
  return trace.setSpanContext(ROOT_CONTEXT, parent)
}

/** Our registry stands where OpenTelemetry's own would: its reader asks it at intervals, and once more at the end. */
function pushMetrics(settings: ExportSettings, resource: Resource, metrics: Metrics, complain: Complain) {
  const exporter = watched(new OTLPMetricExporter(address(settings, 'v1/metrics')), complain)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: settings.exportInterval ?? 15_000 })
  const scope = { name: 'tollgate', version: settings.version }
  const since = Date.now()
  reader.setMetricProducer({
    async collect() {
      const now = Date.now()
      const data = metrics.snapshot().map((family) => metricData(family, since, now))
      return { resourceMetrics: { resource, scopeMetrics: [{ scope, metrics: data }] }, errors: [] }
    },
  })
  return reader
}

function metricData(family: Family, since: number, now: number): MetricData {
  const { name, help, unit, labels } = family
  const common = {
    descriptor: { name, description: help, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const point = (values: (string | number)[]) => ({
    startTime: instant(since),
    endTime: instant(now),
    attributes: Object.fromEntries(labels.map((label, position) => [label, values[position]])),
  })
  if (family.kind === 'histogram') {
    const boundaries = [...family.bounds]
    const dataPoints = family.series.map(({ values, counts, sum }) => {
      const count = counts.reduce((total, each) => total + each, 0)
      return { ...point(values), value: { buckets: { boundaries, counts }, sum, count } }
    })
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  const dataPoints = family.series.map(({ values, value }) => ({ ...point(values), value }))
  if (family.kind === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
  return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
}

function instant(milliseconds: number): [seconds: number, nanoseconds: number] {
  return [Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1e6]
}

function address({ endpoint }: ExportSettings, path: string): { url?: string } {
  return endpoint === undefined ? {} : { url: `${endpoint.replace(/\/$/, '')}/${path}` }
}

type Complain = (error: unknown) => void
type Exporter<T> = {
  export(items: T, done: (result: { code: number; error?: Error }) => void): void
  forceFlush(): Promise<void>
  shutdown(): Promise<void>
}

/** The SDK reports failures to a logger that the whole process shares and nobody listens to; here they reach this service's own. */
function watched<T>(exporter: Exporter<T>, complain: Complain): Exporter<T> {
  return {
    export: (items, done) =>
      exporter.export(items, (result) => {
        if (result.code !== 0) complain(result.error)
        done(result)
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}

function onceAMinute(warn: (message: string) => void = () => {}): Complain {
  let quietUntil = 0
  return (error) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + 60_000
    const { code = '', message = '' } = (error ?? {}) as { code?: string | number; message?: string }
    const reason = message.includes(String(code)) ? message : `${code} ${message}`
    warn(`telemetry collector: ${reason.trim() || 'did not answer'}`)
  }
}
