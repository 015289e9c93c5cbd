import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { httpMetrics } from './metrics.ts'
import { startOtlpReceiver } from './otlp-receiver.ts'
import { startTelemetry, type TelemetrySettings } from './telemetry.ts'

const quiet: TelemetrySettings = {
  service: 'tollgate-identity',
  version: '1.2.3',
  versionAttribute: 'auth.version',
  tracing: false,
  metrics: 'off',
}
const request = { method: 'GET', route: '/admin/users/{user_id}', params: { user_id: '7' }, traceparent: undefined }
const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

async function receiver() {
  const started = await startOtlpReceiver()
  onTestFinished(() => started.close())
  return started
}

async function listener(answer: RequestListener, finished = onTestFinished): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  finished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

afterEach(() => void vi.unstubAllEnvs())

test('a request becomes a span that names its route, its parameters and the build', async () => {
  const collector = await receiver()
  const telemetry = await startTelemetry({ ...quiet, tracing: true, endpoint: collector.url })
  const span = telemetry.startSpan?.(request)
  span?.end({ status: 200 })
  await telemetry.stop()

  expect(collector.refusals()).toEqual([])
  expect(collector.spans()).toHaveLength(1)
  expect(collector.spans()[0]).toMatchObject({
    name: 'GET /admin/users/{user_id}',
    kind: 2,
    traceId: span?.traceId,
    spanId: span?.spanId,
    parentSpanId: '',
    status: 0,
    resource: {
      'service.name': 'tollgate-identity',
      'service.version': '1.2.3',
      'auth.version': '1.2.3',
      'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'telemetry.sdk.language': 'nodejs',
    },
  })
  expect(collector.spans()[0]?.attributes).toEqual({
    'http.method': 'GET',
    'http.route': '/admin/users/{user_id}',
    'http.route.params.user_id': '7',
    'http.response.status_code': 200,
  })
})

test('a server error marks its span with the kind of error, never with its text; a client error does not', async () => {
  const collector = await receiver()
  const telemetry = await startTelemetry({ ...quiet, tracing: true, endpoint: collector.url })
  telemetry.startSpan?.({ ...request, method: 'PUT' }).end({ status: 503, error: new TypeError('the password is hunter2') })
  telemetry.startSpan?.({ ...request, method: 'GET' }).end({ status: 404 })
  await telemetry.stop()

  const failed = await collector.nextSpan(({ name }) => name.startsWith('PUT'))
  expect([failed.status, failed.attributes['error.type']]).toEqual([2, 'TypeError'])
  expect(JSON.stringify(failed, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain('hunter2')
  const missed = await collector.nextSpan(({ name }) => name.startsWith('GET'))
  expect([missed.status, missed.attributes['error.type']]).toEqual([0, undefined])
})

test('a span continues the trace of its caller', async () => {
  const collector = await receiver()
  const telemetry = await startTelemetry({ ...quiet, tracing: true, endpoint: collector.url })
  const traceparent = `00-${traceId}-${spanId}-01`
  telemetry.startSpan?.({ ...request, traceparent, tracestate: 'vendor=1' }).end({ status: 200 })
  await telemetry.stop()
  expect(collector.spans()).toMatchObject([{ traceId, parentSpanId: spanId, traceState: 'vendor=1' }])
})

test('a caller that does not sample its trace is not traced here either', async () => {
  const collector = await receiver()
  const telemetry = await startTelemetry({ ...quiet, tracing: true, endpoint: collector.url })
  const span = telemetry.startSpan?.({ ...request, traceparent: `00-${traceId}-${spanId}-00` })
  span?.end({ status: 200 })
  await telemetry.stop()
  expect(span?.traceId).toBe(traceId)
  expect(collector.spans()).toEqual([])
})

test('a traceparent of a later version counts with whatever it appends; a malformed one begins a new trace', async () => {
  const telemetry = await startTelemetry({ ...quiet, tracing: true, endpoint: 'http://127.0.0.1:1' })
  const trace = (traceparent: string) => telemetry.startSpan?.({ ...request, traceparent }).traceId
  expect(trace(`01-${traceId}-${spanId}-01-more`)).toBe(traceId)
  const malformed = [
    '',
    'x',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}-1`,
    ` 00-${traceId}-${spanId}-01`,
  ]
  for (const traceparent of malformed) {
    expect(trace(traceparent)).toMatch(/^[0-9a-f]{32}$/)
    expect(trace(traceparent)).not.toBe(traceId)
  }
  await telemetry.stop()
})

test('without an endpoint the standard variables say where to, with which headers and under which name', async () => {
  const collector = await receiver()
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `${collector.url}/`)
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-key=abc')
  vi.stubEnv('OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip')
  vi.stubEnv('OTEL_SERVICE_NAME', 'identity-eu')
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=staging,region=eu%2Cwest')
  const telemetry = await startTelemetry({ ...quiet, tracing: true, metrics: 'opentelemetry' })
  telemetry.startSpan?.(request).end({ status: 200 })
  await telemetry.stop()

  const resource = {
    'service.name': 'identity-eu',
    'deployment.environment.name': 'staging',
    region: 'eu,west',
    'auth.version': '1.2.3',
  }
  expect(collector.spans()).toMatchObject([{ resource }])
  expect(collector.metrics()[0]).toMatchObject({ resource })
  expect(collector.headers()).toMatchObject(new Array(2).fill({ 'x-key': 'abc', 'content-encoding': 'gzip' }))
})

test('counters, histograms and gauges are pushed with their values at the end', async () => {
  const collector = await receiver()
  const telemetry = await startTelemetry({ ...quiet, metrics: 'opentelemetry', endpoint: collector.url })
  const http = telemetry.metrics && httpMetrics(telemetry.metrics)
  http?.started()
  http?.started()
  http?.finished({ method: 'GET', route: '/user', status: 200, seconds: 0.25 })
  await telemetry.stop()

  expect(collector.refusals()).toEqual([])
  const metric = (wanted: string) => collector.metrics().find(({ name }) => name === wanted)
  expect(metric('http_status_codes')).toMatchObject({
    kind: 'sum',
    monotonic: true,
    cumulative: true,
    resource: { 'service.name': 'tollgate-identity', 'auth.version': '1.2.3' },
    points: [{ attributes: { code: 200, 'http.route': '/user' }, value: 1 }],
  })
  const attributes = { 'http.request.method': 'GET', 'http.route': '/user', 'http.response.status_code': 200 }
  const counts = [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
  expect(metric('http.server.request.duration')).toMatchObject({
    kind: 'histogram',
    unit: 's',
    cumulative: true,
    points: [{ attributes, count: 1, sum: 0.25, counts }],
  })
  expect(metric('http.server.active_requests')).toMatchObject({ kind: 'gauge', points: [{ value: 1 }] })
  expect(metric('tollgate_running')).toMatchObject({ kind: 'gauge', points: [{ value: 1 }] })
  expect(metric('process_cpu_seconds')).toMatchObject({ kind: 'sum', unit: 's', points: [{ value: expect.any(Number) }] })
})

test('metrics are pushed at every interval and keep counting from the start', async () => {
  const collector = await receiver()
  const telemetry = await startTelemetry({ ...quiet, metrics: 'opentelemetry', endpoint: collector.url, exportInterval: 10 })
  const steps = telemetry.metrics?.counter({ name: 'steps', help: 'Steps', labels: [] })
  const reached = (value: number) =>
    collector.nextMetric((metric) => metric.name === 'steps' && metric.kind === 'sum' && metric.points[0]?.value === value)
  steps?.add(1)
  const first = await reached(1)
  steps?.add(2)
  const second = await reached(3)
  expect(second.points[0]?.start).toBe(first.points[0]?.start)
  await telemetry.stop()
})

test('with Prometheus nothing is pushed: the snapshot waits to be scraped', async () => {
  const telemetry = await startTelemetry({ ...quiet, metrics: 'prometheus' })
  expect(telemetry.startSpan).toBeUndefined()
  expect(telemetry.snapshot()?.map(({ name }) => name)).toContain('tollgate_running')
  await telemetry.stop()
})

test('with everything off there is nothing to call', async () => {
  const telemetry = await startTelemetry(quiet)
  expect([telemetry.metrics, telemetry.startSpan, telemetry.snapshot()]).toEqual([undefined, undefined, undefined])
  await telemetry.stop()
})

test('OpenTelemetry is loaded by those who export with it, and by nobody else', async () => {
  const program = `
    import { registerHooks } from 'node:module'
    let loaded = 0
    registerHooks({ load(url, context, next) { if (url.includes('@opentelemetry')) loaded++; return next(url, context) } })
    const { startTelemetry } = await import(process.argv[1])
    const settings = { service: 's', version: '1', versionAttribute: 'auth.version' }
    await startTelemetry({ ...settings, tracing: false, metrics: 'off' })
    await startTelemetry({ ...settings, tracing: false, metrics: 'prometheus' })
    const before = loaded
    await startTelemetry({ ...settings, tracing: true, metrics: 'off' })
    console.log(before, loaded > 0)
    process.exit()`
  const file = fileURLToPath(new URL('telemetry.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, file])
  expect(stdout).toBe('0 true\n')
})

test('a collector that refuses is complained about once, however often it does', async () => {
  const third = Promise.withResolvers<void>()
  let asked = 0
  const endpoint = await listener((_, response) => {
    response.writeHead(401).end()
    if (++asked === 3) third.resolve()
  })
  const warn = vi.fn<(message: string) => void>()
  const telemetry = await startTelemetry({ ...quiet, metrics: 'opentelemetry', endpoint, exportInterval: 5, warn })
  await third.promise
  await telemetry.stop()
  expect(warn.mock.calls).toEqual([['telemetry collector: 401 Unauthorized']])
})

test.concurrent('a collector that hangs does not hold up the end for more than its two seconds', async ({ onTestFinished }) => {
  const endpoint = await listener(() => {}, onTestFinished)
  const telemetry = await startTelemetry({ ...quiet, tracing: true, metrics: 'opentelemetry', endpoint })
  telemetry.startSpan?.(request).end({ status: 200 })
  const began = performance.now()
  await telemetry.stop()
  expect(performance.now() - began).toBeLessThan(2_500)
})

test.concurrent('a collector that is not there disturbs nobody', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  await promisify(holder.close.bind(holder))()
  const telemetry = await startTelemetry({
    ...quiet,
    tracing: true,
    metrics: 'opentelemetry',
    endpoint: `http://127.0.0.1:${port}`,
    exportInterval: 5,
  })
  for (let count = 0; count < 10_000; count++) telemetry.startSpan?.(request).end({ status: 200 })
  await expect(telemetry.stop()).resolves.toBeUndefined()
})
