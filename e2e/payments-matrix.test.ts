import { signToken } from '@tollgate/kit/jwt'
import { Secret } from '@tollgate/kit/secret'
import type { Called, TestedService } from '@tollgate/kit/testing'
import type { App } from '@tollgate/payments/app'
import { runPayouts } from '@tollgate/payments/operations/run-payouts'
import { endpoints as all } from '@tollgate/payments/server'
import { basic, startPayments } from '@tollgate/payments/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Challenge, jsClient, type Order, overHttp, toldBy, type Wire } from './device-client.ts'

/** What customers call, who are nobody: whose things they touch follows from what they send. */
const endpoints = all.filter(({ tag }) => tag !== 'Customers' && tag !== 'Gateway')
const forCustomers = all.filter((route) => !endpoints.includes(route))

/** The address that devices are told. */
const devices = 'https://pay.example.com'

/** Two tenants with one of everything, in which every word, number and moment is their own. */
const secret = new Secret('a secret that both services know of, 32+')
let service: TestedService<App>
let database: pg.Client
let own: Tenant
let foreign: Tenant
/** What belongs to the other tenant alone, wherever it stands. */
let marks: string[]
let untouched: string
/** A payment that a customer of the other tenant has just made, and one that is half way. */
let paid: Carried
let begun: Carried

beforeAll(async () => {
  service = await startPayments({ PAY_JWT_SECRET: secret.reveal(), PAY_API_EXTERNAL_URL: devices })
  database = new pg.Client(service.app.config.db.url.reveal())
  await database.connect()
  foreign = await settleTenant('Foreign', 7_351_351_000, 'DK5000400440116243')
  service.now.advance(86_400 + 12_345)
  own = await settleTenant('Own', 2_604_604_000, 'NL91ABNA0417164300')
  service.now.advance(86_400 + 54_321)
  await runPayouts(service.app, { day: service.now().toISOString().slice(0, 10), test: true })
  service.now.advance(3600)
  begun = await beginByDevice(foreign.shopKey, 7_123_456_000)
  paid = await payByDevice(foreign.shopKey, 7_234_567_000)
  const [theirs, ours] = [await everythingOf(foreign), await everythingOf(own)]
  const shared = valuesIn(ours)
  marks = [...valuesIn([theirs, foreign])].filter((value) => !shared.has(value))
  untouched = JSON.stringify(theirs)
  // What customers carry with them is still good.
  service.now.advance(60)
})
afterAll(async () => {
  await database.end()
  await service.stop()
})

type Tenant = {
  /** What each placeholder of a path, and each field that names something, stands for. */
  ids: Record<string, string>
  callers: { app: string; person: string }
  appKey: string
  email: string
  /** The public key of the merchant. */
  shopKey: string
}

/** What the device of a customer carries from step to step. */
type Carried = {
  order: Order
  hints: string[]
  /** What the pages in its frames were asked with. */
  questions: Record<string, string>
}

async function settleTenant(name: string, amount: number, iban: string): Promise<Tenant> {
  const word = name.toLowerCase()
  const { app } = await make<{ app: { id: string; key: string } }>('/apps', { name: `${name} back office` }, '')
  const [asApp, email] = [basic(app.key), `someone@${word}-people.test`]
  const asPerson = `Bearer ${tokenOf(email, `${name} Person`)}`
  const { merchant } = await make<{ merchant: { id: string; key: string } }>(
    '/merchants',
    {
      ...{
        name: `${name} Flowers`,
        currency: 'EUR',
        test: true,
        email: `shop@${word}-shop.test`,
        website: `https://${word}-shop.test`,
      },
      ...{ descriptor: `${name} DESCRIPTOR`, company: { country: 'DK', number: `${word}-98765` }, bank: { iban } },
    },
    asApp,
  )
  const home = `/merchants/${merchant.id}`
  await make(`${home}/users`, { email }, asApp)
  const { identity } = (await service.call('GET /me', { headers: { authorization: asPerson } })).json<{
    identity: { id: string }
  }>()
  const more = { custom: { remark: `${word} customer remark` }, text: `${name} PAYMENT`, unplanned: { merchant: true }, plan }
  const transaction = { id: (await payByDevice(merchant.key, amount, more)).authorizationId }
  const gateway = { key: merchant.key, number: '4100000000000000', expiry: { month: 8, year: 2066 }, code: '123' }
  const saved = await service.call('POST /cards', { json: gateway, headers: { 'idempotency-key': `${word}-card-of-today` } })
  const key = `${word}-capture-of-today`
  const moved = await make<{ transaction: { trail: { lineId: string }[] } }>(
    `/transactions/${transaction.id}/captures`,
    { amount: amount - 111_111, descriptor: `${name} CAPTURE` },
    asApp,
    { 'idempotency-key': key },
  )
  await make(`/transactions/${transaction.id}/refunds`, { amount: Math.floor(amount / 7) }, asApp)
  const again = await make<{ transaction: { id: string } }>(
    `${home}/transactions`,
    { transactionId: transaction.id, currency: 'EUR', amount: amount + 222_222 },
    asApp,
  )
  const { card } = await make<{ card: { id: string } }>(
    `${home}/cards`,
    { transactionId: again.transaction.id, notes: `${word} card notes` },
    asApp,
  )
  const { dispute } = await make<{ dispute: { id: string } }>(
    `${home}/simulator/disputes`,
    { transactionId: transaction.id, amount: Math.floor(amount / 11), reason: { code: 4853, title: `${name} dispute title` } },
    asApp,
  )
  const { fraud } = await make<{ fraud: { id: string } }>(`${home}/simulator/frauds`, { transactionId: transaction.id }, asApp)
  return {
    ids: {
      ...{ merchant_id: merchant.id, app_id: app.id, user_id: identity.id, transaction_id: transaction.id },
      ...{ line_id: moved.transaction.trail[0]?.lineId ?? '', card_id: card.id, dispute_id: dispute.id, fraud_id: fraud.id, key },
      ...{ charged_id: again.transaction.id, saved_card_id: saved.json<{ card: { id: string } }>().card.id },
    },
    callers: { app: asApp, person: asPerson },
    appKey: app.key,
    email,
    shopKey: merchant.key,
  }
}

const plan = [
  {
    amount: { currency: 'EUR', exponent: 2, value: 777_777 },
    repeat: { first: '2040-01-02T03:04:05Z', interval: { unit: 'month' } },
  },
]

const wire: Wire = (url, headers, body) => overHttp(url.replace(devices, service.origin), headers, body)
const client = () => jsClient({ origin: devices, wire })

async function newOrder(key: string, value: number, more: object = {}): Promise<Order> {
  const { tokenize } = client()
  const card = {
    ...{ number: await tokenize('pcn', '4100000000000000'), code: await tokenize('pcsc', '123') },
    expiry: { month: 8, year: 2066 },
  }
  return { integration: { key }, test: {}, amount: { currency: 'EUR', exponent: 2, value }, card, ...more }
}

async function payByDevice(key: string, amount: number, more: object = {}): Promise<Carried & { authorizationId: string }> {
  const order = await newOrder(key, amount, more)
  const { hints, authorizationId, trail } = await client().pay(order)
  return { order, hints, authorizationId, questions: Object.assign({}, ...trail.map(({ reply }) => reply.fields ?? {})) }
}

/** As far as the bank's page, and not through it. */
async function beginByDevice(key: string, amount: number): Promise<Carried> {
  const order = await newOrder(key, amount)
  const carried: Carried = { order, hints: [], questions: {} }
  for (const [name, type] of steps) {
    const { reply, gained } = await client().takeStep(order, carried.hints, challengeOf(name, type))
    Object.assign(carried.questions, reply.fields)
    carried.hints.push(...gained)
  }
  return carried
}

const steps = [
  ['authorize-integration', 'fetch'],
  ['fingerprint', 'background-iframe'],
  ['tds-enrolled', 'fetch'],
  ['tds-fingerprint', 'background-iframe'],
  ['tds-pre-challenge', 'fetch'],
] as const

const challengeOf = (name: string, type = 'fetch'): Challenge => ({ name, type, path: `/payments/challenges/${name}` })

async function make<T>(path: string, json: object, authorization: string, more: Record<string, string> = {}): Promise<T> {
  const answer = await service.call(`POST ${path}`, { headers: { authorization, ...more }, json })
  if (answer.status !== 201) throw new Error(`POST ${path} was answered with ${answer.status} ${answer.text}`)
  return answer.json<T>()
}

/** For as long as this test looks ahead. */
function tokenOf(email: string, name: string): string {
  const exp = Math.floor(service.now().getTime() / 1000) + 30 * 86_400
  return signToken({ aud: 'authenticated', role: 'authenticated', email, exp, user_metadata: { name } }, secret)
}

/** All that a tenant has in any table, whatever tables there are. */
async function everythingOf({ ids }: Tenant): Promise<Record<string, unknown[]>> {
  const { rows } = await database.query<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns
     where table_schema = 'pay' and column_name in ('merchant_id', 'owner_id', 'id')
       and table_name in (select table_name from information_schema.tables where table_schema = 'pay' and table_type = 'BASE TABLE')
     order by table_name, column_name`,
  )
  const found: Record<string, unknown[]> = {}
  for (const { table_name: table, column_name: column } of rows) {
    const text = `select it.* from pay.${table} it where it.${column}::text = any($1) order by it::text`
    const mine = await database.query(text, [Object.values(ids)])
    found[`${table} by ${column}`] = mine.rows
  }
  return found
}

/** Every text, large number and moment in something, as it would stand in an answer. */
function valuesIn(thing: unknown): Set<string> {
  if (thing instanceof Date) return new Set([thing.toISOString()])
  if (Buffer.isBuffer(thing)) return new Set([thing.toString('hex')])
  if (typeof thing === 'number') return valuesIn(String(thing))
  // What is short may stand in anything by chance.
  if (typeof thing === 'string') return new Set(thing.replace(/^-/, '').length >= 6 ? [thing.replace(/^-/, '')] : [])
  if (typeof thing !== 'object' || thing === null) return new Set()
  return new Set(Object.values(thing).flatMap((part) => [...valuesIn(part)]))
}

/** Not one byte of what is the other tenant's. */
function expectNothingForeign(answer: Called, about: string) {
  const told = JSON.stringify([answer.headers, answer.text])
  expect(
    marks.filter((mark) => told.includes(mark)),
    `${about} told ${answer.text}`,
  ).toEqual([])
}

type Route = (typeof endpoints)[number]

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const placeholdersOf = ({ path }: Route) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
const named = endpoints.filter((route) => placeholdersOf(route).length > 0)

const amount = 1000
const merchantBody = {
  ...{ currency: 'EUR', test: true, email: 'new@own-shop.test', website: 'own-shop.test', descriptor: 'New' },
  company: { country: 'DK' },
}

/** A body that does what the route is for, with the ids of whoever sends it. A route that is not here cannot be tried: add it. */
const bodies: Record<string, (ids: Tenant['ids']) => Record<string, unknown>> = {
  'POST /apps': () => ({ name: 'Another' }),
  'POST /merchants': () => merchantBody,
  'PUT /merchants/{merchant_id}': () => ({ name: 'Own Flowers' }),
  'POST /merchants/{merchant_id}/apps': ({ app_id }) => ({ appId: app_id }),
  'POST /merchants/{merchant_id}/users': () => ({ email: 'another@own-people.test' }),
  'POST /merchants/{merchant_id}/transactions': ({ transaction_id }) => ({
    transactionId: transaction_id,
    currency: 'EUR',
    amount,
  }),
  'POST /merchants/{merchant_id}/links': () => ({ amount, currency: 'EUR' }),
  'POST /merchants/{merchant_id}/cards': ({ transaction_id }) => ({ transactionId: transaction_id }),
  'POST /transactions/{transaction_id}/captures': () => ({ amount }),
  'POST /transactions/{transaction_id}/refunds': () => ({ amount }),
  'POST /transactions/{transaction_id}/voids': () => ({ amount }),
  'POST /merchants/{merchant_id}/simulator/payments': () => ({ amount, currency: 'EUR' }),
  'POST /merchants/{merchant_id}/simulator/disputes': ({ transaction_id }) => ({ transactionId: transaction_id, amount }),
  'POST /merchants/{merchant_id}/simulator/disputes/{dispute_id}/decisions': () => ({ won: true }),
  'POST /merchants/{merchant_id}/simulator/frauds': ({ transaction_id }) => ({ transactionId: transaction_id }),
}

function bodyOf(route: Route, { ids }: Tenant): { json?: Record<string, unknown> } {
  if (!route.body) return {}
  const body = bodies[nameOf(route)]
  if (!body) throw new Error(`${nameOf(route)} has a body, and this test does not know what to put into it`)
  return { json: body(ids) }
}

/** What a list has to be asked with. */
const queryOf = ({ path, query }: Route, { ids }: Tenant) => {
  if (!query) return ''
  const limit = 'limit' in query.properties ? 'limit=10' : ''
  return path === '/disputes' || path === '/frauds' ? `${limit}&filter[merchantId]=${ids.merchant_id}` : limit
}

function idOf({ ids }: Tenant, placeholder: string): string {
  const id = ids[placeholder]
  if (id === undefined) throw new Error(`{${placeholder}} stands in a path, and this test has nothing to put there`)
  return id
}

function pathWith(route: Route, choose: (placeholder: string) => string): string {
  return route.path.replace(/\{(\w+)\}/g, (_, placeholder: string) => encodeURIComponent(choose(placeholder)))
}

type Attempt = {
  path?: string
  query?: string
  json?: Record<string, unknown>
  caller?: keyof Tenant['callers']
  more?: Record<string, string>
}

function attempt(route: Route, given: Attempt = {}): Promise<Called> {
  const { path = pathWith(route, (name) => idOf(own, name)), query = queryOf(route, own), caller = 'app', more = {} } = given
  const body = given.json ? { json: given.json } : bodyOf(route, own)
  return service.call(`${route.method} ${path}${query === '' ? '' : `?${query}`}`, {
    headers: { authorization: own.callers[caller], accept: 'application/json', ...more },
    ...body,
  })
}

test('there is something to look for, and all of it is found in what its owner is told', async () => {
  expect(marks.length).toBeGreaterThan(50)
  for (const mark of [foreign.appKey, foreign.email, ...Object.values(foreign.ids), 'DK5000400440116243', '7351351000'])
    expect(marks).toContain(mark)
  let told = ''
  for (const route of endpoints.filter(({ method }) => method === 'GET')) {
    const path = pathWith(route, (name) => idOf(foreign, name))
    const answer = await service.call(`GET ${path}?${queryOf(route, foreign)}`, {
      headers: { authorization: foreign.callers.app },
    })
    expect([nameOf(route), answer.status]).toEqual([nameOf(route), 200])
    told += answer.text
  }
  const unseen = marks.filter((mark) => !told.includes(mark))
  // Of most of what is looked for there is an answer that it stands in; the rest are hashes and what is kept for ourselves.
  expect(unseen.length / marks.length).toBeLessThan(0.5)
})

describe.each(named.map((route) => [nameOf(route), route] as const))('%s', (name, route) => {
  const placeholders = placeholdersOf(route)

  test.each(placeholders)(
    'with any id of the other tenant as {%s}, and own ones beside it, finds nothing',
    async (placeholder) => {
      for (const caller of ['app', 'person'] as const)
        for (const id of Object.values(foreign.ids)) {
          const path = pathWith(route, (other) => (other === placeholder ? id : idOf(own, other)))
          const answer = await attempt(route, { path, caller })
          expectNothingForeign(answer, `${name} as ${path}`)
          expect({ path, status: answer.status, told: answer.text }).toEqual({ path, status: 404, told: notFound })
        }
    },
  )

  test('with the ids of the other tenant throughout finds nothing, whether the rest is right or not', async () => {
    const path = pathWith(route, (placeholder) => idOf(foreign, placeholder))
    const theirs = bodyOf(route, foreign)
    for (const [query, more] of [
      [queryOf(route, foreign), { accept: 'application/json' }],
      ['limit=x&before=1&filter[merchantId]=x', { accept: 'application/json' }],
    ] as const) {
      const answer = await attempt(route, { path, query, more, ...theirs })
      expectNothingForeign(answer, `${name} as ${path}`)
      expect([answer.status, answer.text]).toEqual([404, notFound])
    }
    const bad = await attempt(route, { path, json: { amount: 'x', transactionId: 1, appId: 1, won: 'x' } })
    expect([bad.status, bad.text]).toEqual([404, notFound])
    // Old clients are told nothing at all.
    const old = await service.call(`${route.method} ${path}?${queryOf(route, foreign)}`, {
      headers: { authorization: own.callers.app },
      ...theirs,
    })
    expect([old.status, old.text]).toEqual([404, ''])
  })
})

const notFound = '{"code":"not_found","message":"There is nothing here that you can see"}\n'

test.each(endpoints.map((route) => [nameOf(route), route] as const))('%s tells nothing to nobody', async (name, route) => {
  const path = pathWith(route, (placeholder) => idOf(foreign, placeholder))
  const answer = await service.call(`${route.method} ${path}?${queryOf(route, foreign)}`, bodyOf(route, foreign))
  expectNothingForeign(answer, name)
  if (route.caller.security) expect(answer.status).toBe(401)
})

type Shape = { properties?: Record<string, Shape> }

/** The dotted names of fields that may name something: those of ids and keys. */
function naming(shape: Shape | undefined, before = ''): string[] {
  return Object.entries(shape?.properties ?? {}).flatMap(([name, part]) => [
    ...(/(^id|Id|^key)$/.test(name) ? [`${before}${name}`] : []),
    ...naming(part, `${before}${name}.`),
  ])
}

const namingBodies = endpoints.flatMap((route) =>
  naming(route.body as Shape | undefined).map((field) => [nameOf(route), field, route] as const),
)

/** By its id anybody may let an app in: that tells nothing of it, and gives nothing of it away. */
const welcome = 'POST /merchants/{merchant_id}/apps'

test.each(namingBodies)('%s with any id of the other tenant as %s is refused by name', async (name, field, route) => {
  for (const [kind, id] of Object.entries(foreign.ids)) {
    if (name === welcome && kind === 'app_id') continue
    const body = { ...bodyOf(route, own).json }
    // Where several may be given, one wins: it has to be alone.
    for (const other of naming(route.body as Shape)) delete body[other]
    const answer = await attempt(route, { json: { ...body, [field]: id } })
    expectNothingForeign(answer, `${name} with ${kind} as ${field}`)
    const fields = answer.status === 400 ? answer.json<{ field: string }[]>().map((problem) => problem.field) : []
    expect({ kind, status: answer.status, fields }).toEqual({
      kind,
      status: 400,
      fields: [field === 'authorizationId' && kind !== 'key' ? 'transactionId' : field],
    })
  }
})

test('letting the app of the other tenant in tells nothing of it, and lets it in', async () => {
  const route = endpoints.find((each) => nameOf(each) === welcome) as Route
  const answer = await attempt(route, { json: { appId: foreign.ids.app_id } })
  expectNothingForeign(answer, welcome)
  expect([answer.status, answer.text]).toEqual([201, ''])
  const gone = await service.call(`DELETE /merchants/${own.ids.merchant_id}/apps/${foreign.ids.app_id}`, {
    headers: { authorization: own.callers.app },
  })
  expect(gone.status).toBe(204)
})

const filters = endpoints.flatMap((route) => {
  const { filter } = (route.query as Shape | undefined)?.properties ?? {}
  return Object.keys(filter?.properties ?? {}).map((field) => [nameOf(route), field, route] as const)
})

test.each(filters)('%s filtered by what is the other tenant’s as %s has nothing', async (name, field, route) => {
  for (const value of marks) {
    const base = queryOf(route, own).replace(new RegExp(`&?filter\\[${field}\\]=\\w+`), '')
    const answer = await attempt(route, { query: `${base}&filter[${field}]=${encodeURIComponent(value)}` })
    expectNothingForeign(answer, `${name} filtered by ${field} = ${value}`)
    // A text that cannot be such a value is refused; a merchant that is not one's own is not there.
    if (answer.status === 200) expect({ value, told: answer.text }).toEqual({ value, told: '[\n]\n' })
    else expect([400, 404]).toContain(answer.status)
  }
})

const lists = endpoints.filter(({ query }) => (query as Shape | undefined)?.properties?.before)

test.each(lists.map((route) => [nameOf(route), route] as const))(
  '%s paged by ids of the other tenant has own things alone',
  async (name, route) => {
    for (const id of Object.values(foreign.ids))
      for (const cursor of ['before', 'after']) {
        const answer = await attempt(route, { query: `${queryOf(route, own)}&${cursor}=${id}` })
        expectNothingForeign(answer, `${name} ${cursor} ${id}`)
      }
  },
)

const makers = endpoints.filter(({ method }) => method === 'POST')

test.each(makers.map((route) => [nameOf(route), route] as const))(
  '%s under an Idempotency-Key of the other tenant tells nothing of what that did',
  async (name, route) => {
    for (const path of [undefined, pathWith(route, (placeholder) => idOf(foreign, placeholder))]) {
      const answer = await attempt(route, { ...(path ? { path } : {}), more: { 'idempotency-key': idOf(foreign, 'key') } })
      expectNothingForeign(answer, name)
    }
  },
)

test('with own ids everything is there: the ids above are refused for whose they are, not for what they are', async () => {
  const order = ['GET', 'PUT', 'POST', 'DELETE']
  // Whoever takes their own access away sees nothing any more: that comes last.
  const rank = (route: Route) => order.indexOf(route.method) + (nameOf(route).endsWith('{app_id}') ? 0.5 : 0)
  for (const route of endpoints.toSorted((one, other) => rank(one) - rank(other))) {
    const answer = await attempt(route)
    expectNothingForeign(answer, nameOf(route))
    expect({ route: nameOf(route), ok: answer.status < 300, told: answer.text }).toMatchObject({ route: nameOf(route), ok: true })
  }
})

describe('what customers call', () => {
  const device = { 'accept-version': '1', 'content-type': 'application/json' }
  const send = (path: string, json: object, headers: Record<string, string> = device) =>
    service.call(`POST ${path}`, { headers, json })
  const names = ['authorize-integration', 'fingerprint', 'tds-enrolled', 'tds-fingerprint', 'tds-pre-challenge', 'tds-challenge']
  const paths = ['/payments', ...[...names, 'tds-post-challenge', 'authorize'].map((name) => challengeOf(name).path)]

  test('is all here', () => {
    expect(forCustomers.map(nameOf).toSorted()).toEqual(
      [
        ...['GET /10.js', 'GET /pos', 'GET /pos/assets/{file}', 'GET /pos/popup', 'GET /sdk.js', 'POST /3dsecure/v2/challenge'],
        ...['POST /3dsecure/v2/method', 'POST /applepay/approve-payment-session', 'POST /applepay/token', 'POST /cards'],
        ...['POST /googlepay/token', 'POST /payments', 'POST /payments/challenges/{challenge}', 'POST /payments/fingerprint'],
        ...['POST /transactions', 'POST /vault'],
      ].filter((name) => isServed(name)),
    )
    for (const route of forCustomers) expect(route.caller.security, nameOf(route)).toBeUndefined()
  })

  test('is open to whoever has everything that it takes: what is refused below is refused for whose it is', async () => {
    expect((await send('/payments', { ...paid.order, hints: paid.hints })).json()).toHaveProperty('authorizationId')
    expect((await send('/payments', { ...begun.order, hints: begun.hints })).json()).toMatchObject({
      challenges: [{ name: 'tds-challenge' }],
    })
    expect(await client().pay(await newOrder(own.shopKey, 4321))).toHaveProperty('authorizationId')
  })

  test.each(paths)('%s takes no hint that was given for an order at the other merchant', async (path) => {
    const order = await newOrder(own.shopKey, 1234)
    for (const { hints } of [begun, paid])
      for (const given of [hints, ...hints.map((hint) => [hint])]) {
        const answer = await send(path, { ...order, hints: given })
        expectNothingForeign(answer, path)
        expect([answer.status, answer.json<{ code: string }>().code]).toEqual([400, 'PAYMENT_CHALLENGE_UNAVAILABLE'])
      }
  })

  test.each(paths)('%s does not go on with an order of the other merchant in the name of another one', async (path) => {
    for (const { order, hints } of [begun, paid]) {
      const answer = await send(path, { ...order, integration: { key: own.shopKey }, hints })
      expectNothingForeign(answer, path)
      expect([answer.status, answer.json<{ code: string }>().code]).toEqual([400, 'PAYMENT_CHALLENGE_UNAVAILABLE'])
    }
  })

  test.each(paths)('%s takes no question of a bank for a hint, and no hint for a token', async (path) => {
    const order = await newOrder(own.shopKey, 1234)
    for (const hint of Object.values(begun.questions))
      expect((await send(path, { ...order, hints: [hint] })).json()).toMatchObject({ code: 'PAYMENT_CHALLENGE_UNAVAILABLE' })
    for (const token of [...paid.hints, ...Object.values(paid.questions)]) {
      const card = { ...(order.card as object), number: { token } }
      expect((await send(path, { ...order, card })).json()).toMatchObject({ code: 'TOKEN_INVALID', path: 'card.number' })
    }
  })

  test('what a bank asks about the payment of one merchant proves nothing to another', async () => {
    const { creq = '', threeDSMethodData = '', data = '' } = { ...paid.questions, ...begun.questions }
    expect([creq, threeDSMethodData, data].filter((question) => question === '')).toEqual([])
    const order = await newOrder(own.shopKey, 1234)
    for (const [path, form] of [
      ['/3dsecure/v2/challenge', { creq }],
      ['/3dsecure/v2/method', { threeDSMethodData }],
      ['/payments/fingerprint', { data }],
    ] as const) {
      const page = await service.call(`POST ${path}`, { form: form as unknown as Record<string, string> })
      const hints = toldBy(page.text, 'confirms')
      expect(hints?.length).toBeGreaterThan(0)
      expect((await send('/payments', { ...order, hints })).json()).toMatchObject({ code: 'PAYMENT_CHALLENGE_UNAVAILABLE' })
    }
  })

  test('a security code that was spent at one merchant pays nothing at another', async () => {
    const order = await newOrder(own.shopKey, 1234)
    const { code } = paid.order.card as { code: object }
    const before = JSON.stringify((await everythingOf(own))['transactions by merchant_id'])
    await expect(client().pay({ ...order, card: { ...(order.card as object), code } })).rejects.toMatchObject({
      code: 'TOKEN_INVALID',
    })
    expect(JSON.stringify((await everythingOf(own))['transactions by merchant_id'])).toBe(before)
  })

  test('no id and no secret key of the other tenant is a public key', async () => {
    const gateway = {
      currency: 'EUR',
      amount: 100,
      card: { number: '4100000000000000', expiry: { month: 8, year: 2066 }, code: '123' },
    }
    for (const key of [...Object.values(foreign.ids), foreign.appKey, foreign.email]) {
      for (const path of paths) {
        const answer = await send(path, { ...(await newOrder(key, 1234)) })
        expectNothingForeign(answer, path)
        expect(answer.json()).toMatchObject({ code: 'PAYMENT_INTEGRATION_KEY_UNKNOWN' })
      }
      for (const [path, body] of [
        ['/transactions', { key, ...gateway }],
        ['/cards', { key, ...gateway.card }],
      ] as const) {
        const answer = await send(path, body, { accept: 'application/json' })
        expectNothingForeign(answer, path)
        expect([answer.status, answer.json()]).toMatchObject([400, { code: 26 }])
      }
    }
  })

  test('a key that was used at the old gateway for one merchant stands for something else at another', async () => {
    for (const key of [idOf(foreign, 'key'), 'foreign-card-of-today']) {
      const body = { key: own.shopKey, number: '4100000000000000', expiry: { month: 8, year: 2066 }, code: '123' }
      const answer = await send('/cards', body, { 'idempotency-key': key })
      expectNothingForeign(answer, key)
      expect(answer.status).toBe(200)
    }
  })

  test('whoever shows the key of an app or a token beside an order is nobody all the same', async () => {
    const order = await newOrder(own.shopKey, 1234)
    for (const authorization of Object.values(foreign.callers)) {
      const answer = await send('/payments', order, { ...device, authorization })
      expectNothingForeign(answer, authorization)
      expect(answer.status).toBe(200)
    }
  })

  test('the hosted page of a merchant tells of no other, and of the merchant what everybody may know', async () => {
    for (const path of ['/pos', '/pos/popup']) {
      const ours = await service.call(`GET ${path}?key=${own.shopKey}&test=1`)
      expectNothingForeign(ours, path)
      expect([ours.status, ours.text]).toEqual([200, expect.stringContaining('Own Flowers')])
      const theirs = await service.call(`GET ${path}?key=${foreign.shopKey}&test=1`)
      const known = marks.filter((mark) => theirs.text.includes(mark))
      expect(known.toSorted()).toEqual([foreign.shopKey, 'Foreign Flowers'].toSorted())
      const nobody = await service.call(`GET ${path}?key=${foreign.ids.merchant_id}&test=1`)
      expect(nobody.text).not.toContain('Foreign')
    }
  })
})

/** The scripts of the popup may be served from elsewhere. */
function isServed(name: string): boolean {
  return !name.endsWith('.js') || forCustomers.some((route) => nameOf(route) === name)
}

test('nothing of the other tenant was changed by any of it', async () => {
  expect(JSON.stringify(await everythingOf(foreign))).toBe(untouched)
})
