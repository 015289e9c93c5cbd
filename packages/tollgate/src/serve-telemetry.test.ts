import { startOtlpReceiver } from '@tollgate/kit/otlp-receiver'
import { caller, type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort, message, runTollgate, settingsOf } from './testing.ts'

let database: ScratchDatabase
beforeAll(async () => {
  database = await scratchDatabase('template_identity')
})
afterAll(() => database.drop())

async function serve(workers: number, env: Record<string, string>) {
  const port = await freePort()
  const program = runTollgate(['identity', 'serve'], { ...settingsOf(database, port, workers), ...env })
  await program.line(message('listening'))
  return { program, call: caller(`http://127.0.0.1:${port}`) }
}

/** What is counted under a name, by its labels; every line that is neither this nor a comment is a mistake. */
function samples(text: string, name: string): { labels: string; value: number }[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('# '))
  return lines.flatMap((line) => {
    const [, own, labels = '', value] = /^([a-z0-9_]+)(?:\{(.*)\})? (-?[\d.]+(?:e[+-]?\d+)?)$/.exec(line) ?? []
    if (own === undefined) throw new Error(`not a line of Prometheus: ${line}`)
    return own === name ? [{ labels, value: Number(value) }] : []
  })
}

test('a scrape shows what all workers have counted together', async () => {
  const scrapePort = await freePort()
  const { program, call } = await serve(2, {
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(scrapePort),
  })
  // A connection each, so that both workers get their share.
  for (let count = 0; count < 20; count++) await call('GET /settings', { headers: { connection: 'close' } })
  await call('GET /no/such/thing?token=secret')
  const scrape = await caller(`http://127.0.0.1:${scrapePort}`)('GET /')
  expect(scrape.status).toBe(200)
  expect(samples(scrape.text, 'http_status_codes_total')).toEqual(
    expect.arrayContaining([
      { labels: 'code="200",http_route="/settings"', value: 20 },
      { labels: 'code="404",http_route="unmatched"', value: 1 },
    ]),
  )
  const durations = samples(scrape.text, 'http_server_request_duration_seconds_count')
  expect(durations.find(({ labels }) => labels.includes('"/settings"'))?.value).toBe(20)
  expect(samples(scrape.text, 'tollgate_running')).toEqual([{ labels: '', value: 1 }])
  expect(scrape.text).not.toContain('secret')
  program.signal('SIGTERM')
  expect((await program.ended).code).toBe(0)
})

test.each([1, 2])(
  'traces and metrics of %i workers arrive at a collector, the last of them when the program ends',
  async (workers) => {
    const receiver = await startOtlpReceiver()
    onTestFinished(() => receiver.close())
    const { program, call } = await serve(workers, {
      AUTH_TRACING_ENABLED: 'true',
      AUTH_METRICS_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_SERVICE_NAME: 'my-identity',
    })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    expect((await call('GET /settings', { headers: { traceparent } })).status).toBe(200)
    await call('GET /no/such/thing')
    program.signal('SIGTERM')
    expect((await program.ended).code).toBe(0)

    expect(receiver.refusals()).toEqual([])
    const settings = await receiver.nextSpan(({ name }) => name === 'GET /settings')
    expect(settings).toMatchObject({
      kind: 2,
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
      attributes: { 'http.method': 'GET', 'http.route': '/settings', 'http.response.status_code': 200 },
      resource: { 'service.name': 'my-identity', 'auth.version': expect.any(String) },
    })
    await receiver.nextSpan(({ name }) => name === 'GET unmatched')
    const asked = receiver.metrics().filter(({ name }) => name === 'http.server.request.duration')
    const routes = asked.flatMap((metric) => metric.points.map(({ attributes }) => attributes['http.route']))
    expect(new Set(routes)).toEqual(new Set(['/settings', 'unmatched']))
  },
)
