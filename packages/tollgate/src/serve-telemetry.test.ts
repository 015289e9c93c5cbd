import { startOtlpReceiver } from '@tollgate/kit/otlp-receiver'
import { caller, type ScratchDatabase, scratchDatabase } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort, message, runTollgate, settingsOf } from './testing.ts'

type Name = 'identity' | 'payments'

let databases: Record<Name, ScratchDatabase>
beforeAll(async () => {
  databases = { identity: await scratchDatabase('template_identity'), payments: await scratchDatabase('template_payments') }
})
afterAll(async () => {
  for (const { drop } of Object.values(databases)) await drop()
})

async function serve(name: Name, workers: number, env: Record<string, string>) {
  const port = await freePort()
  const program = runTollgate([name, 'serve'], { ...settingsOf(databases[name], port, workers), ...env })
  await program.line(message('listening'))
  return { program, call: caller(`http://127.0.0.1:${port}`) }
}

/** Serves with metrics that can be scraped from the port that comes along. */
async function serveScraped(name: Name, prefix: 'AUTH' | 'PAY', workers: number) {
  const scrapePort = await freePort()
  const served = await serve(name, workers, {
    [`${prefix}_METRICS_ENABLED`]: 'true',
    [`${prefix}_METRICS_EXPORTER`]: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(scrapePort),
  })
  return { ...served, scrape: () => caller(`http://127.0.0.1:${scrapePort}`)('GET /') }
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
  const { program, call, scrape: ask } = await serveScraped('identity', 'AUTH', 2)
  // A connection each, so that both workers get their share.
  for (let count = 0; count < 20; count++) await call('GET /settings', { headers: { connection: 'close' } })
  await call('GET /no/such/thing?token=secret')
  const scrape = await ask()
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

test('a scrape of the payments service shows what became of payments, and nothing of whose they were', async () => {
  const { program, call, scrape: ask } = await serveScraped('payments', 'PAY', 2)
  const { app } = (await call('POST /apps', { json: {} })).json<{ app: { id: string; key: string } }>()
  // A connection each, so that both workers get their share.
  const headers = {
    authorization: `Basic ${Buffer.from(`:${app.key}`).toString('base64')}`,
    accept: 'application/json',
    connection: 'close',
  }
  const post = async (path: string, json: object, key?: string) => {
    const answer = await call(`POST ${path}`, { headers: { ...headers, ...(key ? { 'idempotency-key': key } : {}) }, json })
    return answer.json<Record<string, { id: string }>>()
  }
  const { merchant } = await post('/merchants', {
    ...{ currency: 'EUR', test: true, email: 'ann@example.com', website: 'shop.test', descriptor: 'Canary shop' },
    company: { country: 'DK' },
  })
  const payments = `/merchants/${merchant?.id}/simulator/payments`
  const made: string[] = []
  for (let count = 0; count < 6; count++) {
    const { transaction } = await post(payments, { currency: 'EUR', amount: 4711, card: { code: '737' } }, `canary-${count}`)
    made.push(transaction?.id ?? '')
  }
  await post(payments, { currency: 'EUR', amount: 4711, card: { number: '4100 0000 0000 0007' } })
  for (const id of made) await post(`/transactions/${id}/captures`, { amount: 4700 })
  await post(payments, { currency: 'EUR', amount: 4711, card: { code: '737' } }, 'canary-0')
  await post(`/merchants/${merchant?.id}/simulator/disputes`, { transactionId: made[0] })
  await post(payments, { currency: 'EUR', amount: 4711, test: { acquirer: { latency: 1 } } })

  const { status, text } = await ask()
  expect(status).toBe(200)
  const value = (name: string, labels: string) => samples(text, name).find((each) => each.labels === labels)?.value
  expect(value('tollgate_authorizations_total', 'outcome="approved",code="none",mode="test"')).toBe(7)
  expect(value('tollgate_authorizations_total', 'outcome="declined",code="7",mode="test"')).toBe(1)
  expect(value('tollgate_authorizations_total', 'outcome="approved",code="none",mode="live"')).toBe(0)
  expect(value('tollgate_movements_total', 'kind="capture",outcome="approved",code="none",mode="test"')).toBe(6)
  expect(value('tollgate_idempotency_replays_total', 'outcome="replayed"')).toBe(1)
  expect(value('tollgate_disputes_total', 'outcome="opened",mode="test"')).toBe(1)
  const answers = samples(text, 'tollgate_acquirer_duration_seconds_count')
  expect(answers).toEqual([{ labels: 'acquirer="simulator",operation="authorize",outcome="approved"', value: 1 }])
  expect(value('tollgate_acquirer_pending', '')).toBe(0)
  expect(value('tollgate_exchange_rates_age_days', '')).toBeGreaterThan(0)
  expect(value('http_status_codes_total', 'code="201",http_route="/transactions/{transaction_id}/captures"')).toBe(6)
  // A figure may look like anything.
  const words = text.replace(/ \S+$/gm, '')
  for (const secret of [app.key, app.id, merchant?.id, made[0], 'canary', 'Canary', 'ann@', '737', '471', '4100'])
    expect(words).not.toContain(secret)
  program.signal('SIGTERM')
  expect((await program.ended).code).toBe(0)
})

test.each([1, 2])(
  'traces and metrics of %i workers arrive at a collector, the last of them when the program ends',
  async (workers) => {
    const receiver = await startOtlpReceiver()
    onTestFinished(() => receiver.close())
    const { program, call } = await serve('identity', workers, {
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
