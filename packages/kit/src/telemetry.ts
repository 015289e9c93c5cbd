import { constants, monitorEventLoopDelay, type NodeGCPerformanceDetail, PerformanceObserver, performance } from 'node:perf_hooks'
import { createMetrics, type Metrics, type Over, type Snapshot } from './metrics.ts'
import type { ExportSettings, RequestSpan, SpanRequest } from './tracing.ts'

export type { RequestSpan, SpanRequest } from './tracing.ts'

export type TelemetrySettings = ExportSettings & { metrics: 'off' | 'opentelemetry' | 'prometheus' }

export type Telemetry = {
  metrics: Metrics | undefined
  /** Undefined when tracing is off, so that the request path pays one comparison. */
  startSpan: ((request: SpanRequest) => RequestSpan) | undefined
  /** For the supervisor of several workers, or a scrape of this one. */
  snapshot(): Snapshot | undefined
  /**
   * Sends what is still here, but gives up after two seconds: a collector that hangs must not hold up a deployment. Its connection
   * may live on for the SDK's ten seconds, so the process should exit by itself afterwards.
   */
  stop(): Promise<void>
}

const patience = 2_000

export async function startTelemetry(settings: TelemetrySettings): Promise<Telemetry> {
  const metrics = settings.metrics === 'off' ? undefined : createMetrics()
  const pushed = settings.metrics === 'opentelemetry' ? metrics : undefined
  // OpenTelemetry takes its time and memory to load: only those who asked for it pay.
  const tracing = settings.tracing || pushed ? await import('./tracing.ts') : undefined
  const exports = tracing?.startExports(settings, pushed)
  const stopRuntime = metrics && runtimeMetrics(metrics, settings)

  let stopped: Promise<void> | undefined
  return {
    metrics,
    startSpan: exports?.startSpan,
    snapshot: () => metrics?.snapshot(),
    stop() {
      stopped ??= within(patience, exports?.stop()).finally(stopRuntime)
      return stopped
    },
  }
}

async function within(milliseconds: number, work: Promise<unknown> | undefined): Promise<void> {
  if (!work) return
  const { promise: tooLong, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  await Promise.race([work, tooLong])
  clearTimeout(timer)
}

type Gauge = [name: string, over: Over, help: string, read: () => number]

/**
 * The process itself, under the names that Prometheus' clients for Node use, so that existing dashboards fit. Returns how to stop.
 */
export function runtimeMetrics(metrics: Metrics, build: { service: string; version: string }): () => void {
  const { service, version } = build
  metrics.gauge({ name: 'tollgate_build_info', help: 'What runs', over: 'max', values: { version, service } }, () => 1)
  metrics.total({ name: 'process_cpu_seconds', help: 'User and system CPU time spent', unit: 's' }, () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  const loop = watchEventLoop()
  const gauges: Gauge[] = [
    ['tollgate_running', 'max', 'Whether the service runs', () => 1],
    ['process_start_time_seconds', 'min', 'Start, since the epoch', () => performance.timeOrigin / 1000],
    ['process_uptime_seconds', 'max', 'Time since the start', () => process.uptime()],
    ['process_resident_memory_bytes', 'sum', 'Resident memory', () => process.memoryUsage.rss()],
    ['nodejs_heap_size_total_bytes', 'sum', 'Heap obtained from the system', () => process.memoryUsage().heapTotal],
    ['nodejs_heap_size_used_bytes', 'sum', 'Heap in use', () => process.memoryUsage().heapUsed],
    ['nodejs_external_memory_bytes', 'sum', 'Buffers and the like outside the heap', () => process.memoryUsage().external],
    ...loop.gauges,
  ]
  for (const [name, over, help, read] of gauges) metrics.gauge({ name, help, over, unit: unitOf(name) }, read)

  const resources = { name: 'nodejs_active_resources', help: 'Open connections, listeners and timers', over: 'sum' } as const
  for (const type of ['TCPSocketWrap', 'TCPServerWrap', 'Timeout']) {
    metrics.gauge(
      { ...resources, values: { type } },
      () => process.getActiveResourcesInfo().filter((each) => each === type).length,
    )
  }

  const stopPauses = watchPauses(metrics)
  return () => {
    loop.stop()
    stopPauses()
  }
}

function unitOf(name: string): '' | 's' | 'By' {
  if (name.endsWith('_bytes')) return 'By'
  return name.endsWith('_seconds') ? 's' : ''
}

/** How late the event loop comes round and how busy it is, each since the last collection. */
function watchEventLoop(): { gauges: Gauge[]; stop(): void } {
  const resolution = 20
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  // Node measures from one tick of its timer to the next; the tick itself is no delay.
  const late = (percentile: number) => Math.max(0, delay.percentile(percentile) / 1e9 - resolution / 1000)
  let last = performance.eventLoopUtilization()

  function worst(): number {
    const seconds = late(99)
    delay.reset()
    return seconds
  }
  function busy(): number {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
  const gauges: Gauge[] = [
    ['nodejs_eventloop_lag_p50_seconds', 'max', 'Median delay of the event loop', () => late(50)],
    // After the median, as it begins the next period.
    ['nodejs_eventloop_lag_p99_seconds', 'max', 'Delay that one tick in a hundred exceeds', worst],
    ['nodejs_eventloop_utilization', 'max', 'Share of time the event loop was busy', busy],
  ]
  return { gauges, stop: () => void delay.disable() }
}

const collections: Record<number, string> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

function watchPauses(metrics: Metrics): () => void {
  const pauses = metrics.histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Pauses for garbage collection',
    unit: 's',
    labels: ['kind'],
    bounds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  })
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind } = (entry as PerformanceEntry & { detail: NodeGCPerformanceDetail }).detail
      pauses.observe(entry.duration / 1000, collections[kind] ?? 'other')
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}
