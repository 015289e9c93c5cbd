import { signToken } from '@tollgate/kit/jwt'
import { startOtlpReceiver } from '@tollgate/kit/otlp-receiver'
import { Secret } from '@tollgate/kit/secret'
import { startTelemetry } from '@tollgate/kit/telemetry'
import { type CallOptions, caller } from '@tollgate/kit/testing'
import { expect, onTestFinished, test } from 'vitest'
import { payments } from './main.ts'
import { plantMerchant, plantTransaction, startPayments } from './testing.ts'

const jwtSecret = new Secret('a secret that both services know of, 32+')

/** What a log must never hold, whatever becomes of a request. The first number is a test card; nobody knows whose the second is. */
const canaries = {
  testCard: '4200009876540000',
  realCard: '4242424242424242',
  securityCode: '737',
  word: 'canary',
}

/** Everything that leaves for a log or a collector is kept here. */
async function start() {
  const receiver = await startOtlpReceiver()
  const telemetry = await startTelemetry({
    ...{ service: 'payments', version: '1', versionAttribute: 'pay.version' },
    ...{ tracing: true, metrics: 'opentelemetry', endpoint: receiver.url },
  })
  const mail = { PAY_SMTP_HOST: '127.0.0.1', PAY_SMTP_PORT: '1', PAY_SMTP_ADMIN_EMAIL: 'pay@example.com' }
  const settings = { ...mail, PAY_SITE_URL: 'https://site.test', PAY_JWT_SECRET: jwtSecret.reveal() }
  const service = await startPayments(settings, { telemetry })
  onTestFinished(async () => {
    await service.stop()
    await receiver.close()
  })
  async function everythingTold(): Promise<string> {
    await telemetry.stop()
    expect(receiver.refusals()).toEqual([])
    const spans = receiver
      .spans()
      .map(({ name, attributes, resource, traceState }) => ({ name, attributes, resource, traceState }))
    const metrics = receiver.metrics().map((metric) => [metric.name, metric.points.map(({ attributes }) => attributes)])
    // A line break a line, so that no two figures become one.
    return [...service.lines, ...spans, ...metrics].map((each) => JSON.stringify(each)).join('\n')
  }
  return { service, receiver, everythingTold }
}

type Service = Awaited<ReturnType<typeof startPayments>>

const device = { 'accept-version': '1' }
const forCustomers = /^\/(vault|payments|3dsecure|transactions$|cards$)/
/** Where nobody is configured who could be asked. */
const withoutContract = /^\/(applepay|googlepay)/

/** What a device of a customer sends, and what the pages are asked that it opens on the way. */
async function orderOf({ call }: Service, key: string) {
  const token = async (type: string, value: string) =>
    (await call('POST /vault', { json: { type, value }, headers: device })).json()
  const order = {
    integration: { key },
    test: { tds: { fingerprint: 'unavailable' } },
    amount: { currency: 'EUR', exponent: 2, value: 100 },
    custom: { canary: 'canary' },
    card: {
      number: await token('pcn', canaries.testCard),
      code: await token('pcsc', canaries.securityCode),
      expiry: { month: 1, year: 2040 },
    },
  }
  const asked = await call('POST /payments/challenges/fingerprint', { json: order, headers: device })
  return { order, question: asked.json<{ fields: { data: string } }>().fields.data }
}

/** For every path that takes a POST, a request that it likes, full of canaries. */
async function bodiesByPath(service: Service) {
  const merchant = await plantMerchant(service)
  const transaction = await plantTransaction(service, { merchantId: merchant.id, amount: 100_000 })
  const other = await plantTransaction(service, { merchantId: merchant.id, amount: 100_000 })
  const headers = { authorization: merchant.authorization }
  await service.call(`POST /transactions/${other}/captures`, { headers, json: { amount: 50_000 } })
  const dispute = { transactionId: other, amount: 7, reason: { code: 4853, title: 'canary title' } }
  const raised = await service.call(`POST /merchants/${merchant.id}/simulator/disputes`, {
    headers,
    json: { ...dispute, amount: 11 },
  })
  const disputeId = raised.json<{ dispute: { id: string } }>().dispute.id
  const card = { number: canaries.testCard, code: canaries.securityCode, expiry: { month: 1, year: 2040 } }
  const moved = { descriptor: 'canary descriptor' }
  const { order, question } = await orderOf(service, merchant.key)
  const bodies: Record<string, object> = {
    '/apps': { name: 'canary app' },
    '/merchants': {
      ...{ name: 'canary shop', currency: 'EUR', test: true, email: 'canary@example.com', website: 'canary.test' },
      ...{ descriptor: 'canary', company: { country: 'DK', number: 'canary 1' }, bank: { iban: 'DK5000400440116243' } },
    },
    '/merchants/{merchant_id}/apps': { appId: merchant.app.id },
    '/merchants/{merchant_id}/users': { email: 'canary.person@example.com' },
    '/merchants/{merchant_id}/cards': { transactionId: transaction, notes: 'canary notes' },
    '/merchants/{merchant_id}/transactions': {
      ...{ transactionId: transaction, currency: 'EUR', amount: 100, custom: { canary: 'canary' } },
      ...moved,
    },
    '/merchants/{merchant_id}/simulator/payments': { currency: 'EUR', amount: 20_000, card, custom: { canary: 'canary' } },
    '/merchants/{merchant_id}/simulator/disputes': dispute,
    '/merchants/{merchant_id}/simulator/disputes/{dispute_id}/decisions': { won: true },
    '/merchants/{merchant_id}/simulator/frauds': { transactionId: other, reason: 1 },
    '/merchants/{merchant_id}/links': { amount: 100, reference: 'canary', text: 'canary', redirect: 'https://canary.test' },
    '/vault': { type: 'pcn', value: canaries.realCard },
    '/payments': order,
    '/payments/challenges/{challenge}': order,
    '/payments/fingerprint': { data: question },
    '/3dsecure/v2/method': { threeDSMethodData: question },
    '/3dsecure/v2/challenge': { creq: question },
    '/applepay/token': { token: 'canary' },
    '/applepay/approve-payment-session': { configurationId: 'canary', text: 'canary' },
    '/googlepay/token': { token: 'canary' },
    '/transactions': { key: merchant.key, currency: 'EUR', amount: 20_000, card, custom: { canary: 'canary' } },
    '/cards': { key: merchant.key, ...card, number: canaries.realCard },
    '/transactions/{transaction_id}/captures': { amount: 3, ...moved },
    '/transactions/{transaction_id}/refunds': { amount: 2, ...moved },
    '/transactions/{transaction_id}/voids': { amount: 1 },
  }
  const places: Record<string, string> = {
    challenge: 'authorize-integration',
    merchant_id: merchant.id,
    transaction_id: other,
    dispute_id: disputeId,
  }
  const paths = payments.endpoints.filter(({ method }) => method === 'POST').map(({ path }) => path)
  return {
    merchant,
    requests: paths.map((path) => {
      const body = bodies[path]
      if (!body) throw new Error(`Say here what POST ${path} likes, so that it is seen what it tells of it.`)
      return { path, url: path.replace(/\{(\w+)\}/g, (_, name) => places[name] ?? ''), body }
    }),
  }
}

/** The same with something wrong everywhere, and the canaries still in it. */
function spoilt(value: unknown): unknown {
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, spoilt(part)]))
  return typeof value === 'string' ? { canary: value } : `canary ${String(value)}`
}

test('no key, token, card number or other thing that callers entrust to us is in a log, a trace or a metric', async () => {
  const { service, receiver, everythingTold } = await start()
  const { merchant, requests } = await bodiesByPath(service)
  const email = 'canary.member@example.com'
  const claims = { sub: '11111111-1111-4111-8111-111111111111', aud: 'authenticated', role: 'authenticated', email }
  const token = signToken({ ...claims, exp: Math.floor(service.now().getTime() / 1000) + 3600 }, jwtSecret)
  const app = { authorization: merchant.authorization, accept: 'application/json', ...device }
  await service.call(`POST /merchants/${merchant.id}/users`, { headers: app, json: { email } })
  const person = { ...app, authorization: `Bearer ${token}` }
  const call = caller(service.origin)
  const statuses = new Map<string, number[]>()

  async function askAll(
    form: string,
    ask: (each: (typeof requests)[number], number: number) => [url: string, options: CallOptions],
  ) {
    const told = []
    for (const [number, each] of requests.entries()) {
      const [url, options] = ask(each, number)
      told.push((await call(`POST ${url}`, options)).status)
    }
    statuses.set(form, told)
  }

  const keyed = (number: number) => ({ 'idempotency-key': `canary-key-${number}` })
  await askAll('first', ({ url, body }, number) => [url, { headers: { ...app, ...keyed(number) }, json: body }])
  await askAll('again', ({ url, body }, number) => [url, { headers: { ...app, ...keyed(number) }, json: body }])
  await askAll('mismatch', ({ url }, number) => [
    url,
    { headers: { ...app, ...keyed(number + 1) }, json: requests[number]?.body ?? {} },
  ])
  await askAll('person', ({ url, body }) => [url, { headers: { ...person }, json: body }])
  await askAll('strange key', ({ url, body }) => [url, { headers: { ...app, 'idempotency-key': 'canary key' }, json: body }])
  await askAll('form', ({ url }) => [
    url,
    { headers: app, form: { 'card[number]': canaries.realCard, name: 'canary'.repeat(50) } },
  ])
  await askAll('spoilt', ({ url, body }) => [url, { headers: app, json: spoilt(body) }])
  await askAll('broken', ({ url, body }) => [
    url,
    { headers: { ...app, 'content-type': 'application/json' }, raw: `${JSON.stringify(body)}x` },
  ])
  await askAll('real card', ({ url, body }) => [
    url,
    { headers: app, json: { ...body, card: { number: canaries.realCard, code: canaries.securityCode } } },
  ])
  await askAll('strange path', ({ path, body }) => [path.replaceAll(/\{\w+\}/g, 'strange-id'), { headers: app, json: body }])
  await askAll('no path', ({ body }) => [`/canary/${canaries.realCard}`, { headers: app, json: body }])
  await askAll('query', ({ url, body }) => [`${url}?key=canary&number=${canaries.realCard}`, { headers: app, json: body }])
  await askAll('strange authorization', ({ url, body }, number) => [
    url,
    { headers: { ...app, authorization: number % 2 ? `Bearer canary.${token.slice(5)}` : 'Basic OmNhbmFyeQ==' }, json: body },
  ])
  await call('GET /idempotency/canary-key-0', { headers: app })
  await call(`GET /merchants/${merchant.id}/users?limit=10&filter[email]=canary`, { headers: app })

  // A bug of ours, at the worst moment: the database refuses the row, and quotes it.
  await service.app.db`alter table pay.idempotency add constraint broken check (created < '2030-01-02T03:04:06Z')`
  service.now.advance(60)
  const late = (number: number) => ({ 'idempotency-key': `canary-late-${number}` })
  await askAll('bug', ({ url, body }, number) => [url, { headers: { ...app, ...late(number) }, json: { ...body, amount: 1 } }])
  await service.app.db`drop table pay.members`
  await askAll('disaster', ({ url, body }, number) => [url, { headers: { ...app, ...keyed(number) }, json: body }])

  // Had all of it been refused at the door, this would be a test of the door.
  const liked = requests.map(({ path }) => (withoutContract.test(path) ? 400 : forCustomers.test(path) ? 200 : 201))
  expect(statuses.get('first')).toEqual(liked)
  expect(statuses.get('again')).toEqual(liked)
  expect(statuses.get('person')?.filter((status) => status < 300).length).toBeGreaterThan(6)
  expect(statuses.get('spoilt')?.filter((status) => status === 400).length).toBeGreaterThan(10)
  expect(statuses.get('bug')?.filter((status) => status === 500).length).toBeGreaterThan(6)
  expect(statuses.get('disaster')?.filter((status) => status === 500).length).toBeGreaterThan(6)
  await expect.poll(() => service.lines.filter(({ kind }) => kind === 'invitation').length).toBeGreaterThan(0)

  const told = await everythingTold()
  expect(receiver.spans().length).toBeGreaterThan(100)
  const keys = [merchant.app.key, Buffer.from(`:${merchant.app.key}`).toString('base64'), token, token.split('.')[2] ?? '']
  const { testCard, realCard, word } = canaries
  for (const canary of [testCard, realCard, word, ...keys, 'DK5000400440116243', jwtSecret.reveal()])
    expect(told.split('\n').filter((line) => line.includes(canary))).toEqual([])
  // Three digits are in many an id.
  // Where in a statement PostgreSQL found fault is a number as well.
  const withoutPlaces = told.replaceAll(/"position":"\d+"/g, '')
  expect(withoutPlaces).not.toMatch(new RegExp(`"${canaries.securityCode}\\\\?"`))
})
