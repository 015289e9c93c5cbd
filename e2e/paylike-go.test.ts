import { oneProcess } from '@tollgate/kit/testing'
import { basic, startPayments } from '@tollgate/payments/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop, type Payments, pay } from './payments-service.ts'

// What the Go client sends, byte for byte where that matters, and how it reads what comes back.
let service: Payments
beforeAll(async () => {
  service = await oneProcess('it lists what was made in one millisecond, which only one process has in order', () =>
    startPayments({ PAY_EXCHANGE_MAX_AGE: '0' }),
  )
})
afterAll(() => service.stop())

/** It says that everything is JSON, also where it sends nothing, and has no Accept. */
function send(what: string, { key = '', body = '' } = {}) {
  const headers = {
    'user-agent': 'Go-http-client/1.1',
    authorization: basic(key),
    'content-type': 'application/json',
    'accept-encoding': 'gzip',
  }
  return service.call(what, { headers, ...(what.startsWith('GET') || what.startsWith('DELETE') ? {} : { raw: body }) })
}

/** A type as the Go client declares it: what a value must be to go in. */
type GoType =
  | 'string'
  | 'int'
  | 'float64'
  | 'bool'
  | 'any'
  | { map: GoType }
  | { list: GoType }
  | { struct: Record<string, GoType> }

/** A number as it was written: 1.0 is no int for Go. */
class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

function parse(text: string): unknown {
  return JSON.parse(text, (_, value, context?: { source: string }) =>
    typeof value === 'number' ? new Written(context?.source ?? '') : value,
  )
}

/** https://pkg.go.dev/encoding/json#Unmarshal: what does not fit is an error, what is not declared is passed over. */
function decode(type: GoType, value: unknown, path = 'the body'): unknown {
  const unfit = () => new Error(`json: cannot unmarshal ${JSON.stringify(value)} into ${path} of type ${JSON.stringify(type)}`)
  if (value === null || type === 'any') return value
  if (type === 'int' || type === 'float64') {
    if (!(value instanceof Written) || (type === 'int' && !/^-?\d+$/.test(value.text))) throw unfit()
    return Number(value.text)
  }
  if (type === 'string' || type === 'bool') {
    if (typeof value !== (type === 'bool' ? 'boolean' : 'string')) throw unfit()
    return value
  }
  if (value instanceof Written || typeof value !== 'object' || Array.isArray(value) !== 'list' in type) throw unfit()
  if ('list' in type) return (value as unknown[]).map((item, index) => decode(type.list, item, `${path}[${index}]`))
  const fields = Object.entries(value).flatMap(([name, part]) => {
    const wanted =
      'map' in type ? type.map : Object.entries(type.struct).find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1]
    return wanted === undefined ? [] : [[name, decode(wanted, part, `${path}.${name}`)]]
  })
  return Object.fromEntries(fields)
}

/** It does not look at the status: an empty body is nothing, everything else must fit. */
function read<Value>({ text }: { text: string }, type: GoType): Value {
  return (text === '' ? undefined : decode(type, parse(text))) as Value
}

const wrapped = (type: GoType): GoType => ({ map: type })

const App: GoType = { struct: { id: 'string', name: 'string', key: 'string' } }
const Identity: GoType = { struct: { id: 'string', name: 'string', created: 'string' } }
const User: GoType = { struct: { id: 'string', email: 'string' } }
const Amount: GoType = { struct: { currency: 'string', amount: 'float64' } }
const Pricing: Record<string, GoType> = { rate: 'float64', flat: Amount, dispute: Amount }
const Merchant: GoType = {
  struct: {
    ...{ id: 'string', name: 'string', currency: 'string', email: 'string', key: 'string', created: 'string', test: 'bool' },
    ...{ descriptor: 'string', website: 'string', balance: 'float64' },
    company: { struct: { country: 'string', number: 'string' } },
    bank: { struct: { iban: 'string' } },
    claim: {
      struct: {
        ...{ canChargeCard: 'bool', canSaveCard: 'bool', canTransferToCard: 'bool' },
        ...{ canCapture: 'bool', canRefund: 'bool', canVoid: 'bool' },
      },
    },
    pricing: { struct: { ...Pricing, transfer: { struct: { toCard: { struct: Pricing } } } } },
    tds: { struct: { mode: 'string' } },
  },
}
const Line: GoType = {
  struct: {
    ...{ id: 'string', created: 'string', merchantId: 'string', transactionId: 'string', balance: 'int', fee: 'int' },
    ...{ amount: Amount, refund: 'bool', test: 'bool' },
  },
}
const CardFields: Record<string, GoType> = {
  ...{ bin: 'string', last4: 'string', expiry: 'string', scheme: 'string' },
  code: { struct: { present: 'bool' } },
}
const Card: GoType = { struct: { ...CardFields, id: 'string', merchantId: 'string', created: 'string' } }
const Made: GoType = { struct: { id: 'string' } }
const Transaction: GoType = {
  struct: {
    ...{ id: 'string', test: 'bool', merchantId: 'string', created: 'string', amount: 'int', refundedAmount: 'int' },
    ...{ capturedAmount: 'int', voidedAmount: 'int', pendingAmount: 'int', disputedAmount: 'int' },
    ...{ card: { struct: CardFields }, tds: 'string', currency: 'string', custom: { map: 'any' }, recurring: 'bool' },
    ...{ successful: 'bool', error: 'bool', descriptor: 'string' },
    trail: {
      list: {
        struct: {
          ...{ amount: 'int', balance: 'int', created: 'string', descriptor: 'string', lineId: 'string' },
          fee: { struct: { flat: 'int', rate: 'int' } },
          dispute: { struct: { id: 'string', won: 'bool', lost: 'bool' } },
        },
      },
    },
  },
}

type Named = { id: string; name: string | null; key: string }
type Trailed = { id: string; trail: Record<string, unknown>[] }

async function createApp(body = '') {
  const { app } = read<{ app: Named }>(await send('POST /apps', { body }), wrapped(App))
  return app
}

// As its tests do it: a name that is not given is left out, a test flag is not.
const given =
  '{"currency":"HUF","test":true,"email":"john@example.com","website":"https://example.com","descriptor":"1234567897891234","company":{"country":"HU"}}'

async function createMerchant(key: string, body = given) {
  const answer = await send('POST /merchants', { key, body })
  expect(answer.status).toBe(201)
  return read<{ merchant: Named & Record<string, unknown> }>(answer, wrapped(Merchant)).merchant
}

test.each<[string, GoType, string]>([
  ['a fraction into an int', 'int', '1.0'],
  ['an exponent into an int', 'int', '1e3'],
  ['a text into an int', 'int', '"1"'],
  ['a number into a text', 'string', '1'],
  ['an object into a list', { list: App }, '{"code":"not_found"}'],
  ['a list into a wrapper', wrapped(App), '[]'],
  ['a wrapper with something beside its key', wrapped(App), '{"app":{"id":"x"},"count":1}'],
])('the reader of this test is as strict as Go: %s does not fit', (_, type, text) => {
  expect(() => read({ text }, type)).toThrow('json: cannot unmarshal')
})

test('an app is made with a colon for credentials and nothing for a body', async () => {
  expect(basic('')).toBe('Basic Og==')
  expect(await createApp()).toMatchObject({ id: expect.any(String), name: null, key: expect.any(String) })
  expect(await createApp('{"name":"Macilaci"}')).toMatchObject({ name: 'Macilaci' })
})

test('the current app is told to whoever sends JSON as the type of no body', async () => {
  const { id, key } = await createApp()
  const { identity } = read<{ identity: { id: string } }>(await send('GET /me', { key }), wrapped(Identity))
  expect(identity.id).toBe(id)
})

test('a merchant is the same when it is made, got and listed, field by field', async () => {
  const { id: appId, key } = await createApp()
  const rich =
    '{"name":"NotTest","currency":"DKK","email":"a@b.dk","website":"test.com","descriptor":"Shop","company":{"country":"DK","number":"123"},"bank":{"iban":"NL91ABNA0417164300"}}'
  for (const body of [given, rich]) {
    service.now.advance(1)
    const merchant = await createMerchant(key, body)
    const got = await send(`GET /merchants/${merchant.id}`, { key })
    expect(read(got, wrapped(Merchant))).toEqual({ merchant })
    const listed = await send(`GET /identities/${appId}/merchants?limit=5`, { key })
    expect(read<unknown[]>(listed, { list: Merchant })[0]).toEqual(merchant)
    // Not only what it declares: to the byte.
    expect(got.text).toBe(`{"merchant":${listed.text.split('\n')[1]?.replace(/,$/, '')}}\n`)
  }
})

test('a merchant is changed without a word', async () => {
  const { key } = await createApp()
  const { id } = await createMerchant(key)
  const body = '{"name":"Test","email":"not_john@example.com","descriptor":"NotNumbers"}'
  const answer = await send(`PUT /merchants/${id}`, { key, body })
  expect([answer.status, answer.text]).toEqual([204, ''])
  const { merchant } = read<{ merchant: Named }>(await send(`GET /merchants/${id}`, { key }), wrapped(Merchant))
  expect(merchant).toMatchObject({ name: 'Test', email: 'not_john@example.com', descriptor: 'NotNumbers' })
})

test('people are invited, listed and revoked', async () => {
  const { key } = await createApp()
  const { id } = await createMerchant(key)
  const invited = await send(`POST /merchants/${id}/users`, { key, body: '{"email":"one@example.com"}' })
  expect(read(invited, { struct: { isMember: 'bool' } })).toEqual({ isMember: false })
  const list = async () => read<{ id: string }[]>(await send(`GET /merchants/${id}/users?limit=3`, { key }), { list: User })
  const users = await list()
  expect(users).toEqual([{ id: expect.any(String), email: 'one@example.com' }])
  const revoked = await send(`DELETE /merchants/${id}/users/${users[0]?.id}`, { key })
  expect([revoked.status, revoked.text]).toEqual([204, ''])
  expect(await list()).toEqual([])
})

test('an app that is added again is listed as it was made, and sees no apps once it has revoked itself', async () => {
  const app = await createApp()
  const { id } = await createMerchant(app.key)
  const added = await send(`POST /merchants/${id}/apps`, { key: app.key, body: `{"appId":"${app.id}"}` })
  expect([added.status, added.text]).toEqual([201, ''])
  const list = () => send(`GET /merchants/${id}/apps?limit=2`, { key: app.key })
  expect(read(await list(), { list: App })).toEqual([app])
  const revoked = await send(`DELETE /merchants/${id}/apps/${app.id}`, { key: app.key })
  expect([revoked.status, revoked.text]).toEqual([204, ''])
  const afterwards = await list()
  expect([afterwards.status, read(afterwards, { list: App })]).toEqual([404, undefined])
})

/** A shop whose prices and currency make fractions, if anything does. */
async function arrange() {
  const shop = await openShop(service, { currency: 'HUF', company: { country: 'HU' } })
  const { key } = shop.app
  const transactionId = await pay(service, shop, { amount: 777 })
  const charge = async (amount = 200) => {
    const body = `{"transactionId":"${transactionId}","currency":"EUR","amount":${amount},"custom":{"source":"test"}}`
    const answer = await send(`POST /merchants/${shop.id}/transactions`, { key, body })
    return read<{ transaction: { id: string } }>(answer, wrapped(Made)).transaction.id
  }
  const move = async (id: string, what: string, body: string) => {
    const answer = await send(`POST /transactions/${id}/${what}`, { key, body })
    expect(answer.status).toBe(201)
    return read<{ transaction: Trailed }>(answer, wrapped(Transaction)).transaction
  }
  const find = async (id: string) =>
    read<{ transaction: Trailed }>(await send(`GET /transactions/${id}`, { key }), wrapped(Transaction)).transaction
  return { shop, key, transactionId, charge, move, find }
}

test('a transaction is made, captured, refunded and voided, and is the same when it is got afterwards', async () => {
  const { charge, move, find } = await arrange()
  const id = await charge()
  const captured = await move(id, 'captures', '{"amount":3,"currency":"EUR","descriptor":"Testing Capture"}')
  expect(captured.trail).toMatchObject([{ amount: 3, descriptor: 'Testing Capture' }])
  expect(await find(id)).toEqual(captured)
  const refunded = await move(id, 'refunds', '{"amount":1,"descriptor":"Testing Refund"}')
  expect(refunded.trail[1]).toMatchObject({ amount: 1, descriptor: 'Testing Refund' })
  expect(await find(id)).toEqual(refunded)
  const voided = await move(id, 'voids', '{"amount":1}')
  expect(voided.trail[2]).toMatchObject({ amount: 1 })
  expect(await find(id)).toEqual(voided)
})

test('lists of transactions and lines fit, with disputes among them and nothing but ints for money', async () => {
  const { shop, key, transactionId, charge, move, find } = await arrange()
  for (const amount of [1, 33, 101, 555]) await move(await charge(amount), 'captures', `{"amount":${amount}}`)
  await move(transactionId, 'captures', '{"amount":777}')
  await move(transactionId, 'refunds', '{"amount":111}')
  const raised = await send(`POST /merchants/${shop.id}/simulator/disputes`, {
    key,
    body: `{"transactionId":"${transactionId}","amount":300}`,
  })
  const { dispute } = raised.json<{ dispute: { id: string } }>()
  await send(`POST /merchants/${shop.id}/simulator/disputes/${dispute.id}/decisions`, { key, body: '{"won":true}' })
  const transactions = await send(`GET /merchants/${shop.id}/transactions?limit=20`, { key })
  const listed = read<Trailed[]>(transactions, { list: Transaction })
  expect(listed).toHaveLength(5)
  expect(listed.at(-1)).toEqual(await find(transactionId))
  expect(listed.at(-1)?.trail.map((entry) => entry.dispute)).toContainEqual({ id: dispute.id, won: true })
  const lines = await send(`GET /merchants/${shop.id}/lines?limit=20`, { key })
  const lineIds = listed.flatMap(({ trail }) => trail.map(({ lineId }) => lineId))
  const ids = read<{ id: string }[]>(lines, { list: Line }).map(({ id }) => id)
  expect(ids).toHaveLength(8)
  expect(ids).toEqual(expect.arrayContaining(lineIds))
})

test('a card is saved and got', async () => {
  const { shop, key, transactionId } = await arrange()
  const body = `{"transactionId":"${transactionId}","notes":""}`
  const answer = await send(`POST /merchants/${shop.id}/cards`, { key, body })
  const { id } = read<{ card: { id: string } }>(answer, wrapped(Made)).card
  const { card } = read<{ card: object }>(await send(`GET /cards/${id}`, { key }), wrapped(Card))
  expect(card).toMatchObject({ id, merchantId: shop.id, bin: '410000', last4: '0000', scheme: 'visa' })
})

test('a list that is refused is empty, and one thing that is refused is nothing, for there is no body to misread', async () => {
  const stranger = await createApp()
  const { shop, transactionId } = await arrange()
  const lists = [
    `/identities/${shop.app.id}/merchants`,
    ...['apps', 'users', 'lines', 'transactions'].map((what) => `/merchants/${shop.id}/${what}`),
  ]
  const things = [
    '/me',
    `/merchants/${shop.id}`,
    `/transactions/${transactionId}`,
    '/cards/wrong_id',
    '/lines/wrong_id',
    '/nowhere',
  ]
  for (const [path, key] of [...lists.map((list) => `${list}?limit=5`), ...things].flatMap(
    (path) =>
      [
        [path, ''],
        [path, 'nobody'],
        [path, stranger.key],
      ] as const,
  )) {
    if (path === '/me' && key === stranger.key) continue
    const answer = await send(`GET ${path}`, { key })
    expect(answer.status, path).toBe(key === stranger.key || path === '/nowhere' ? 404 : 401)
    expect([answer.text, answer.headers['content-type'], answer.headers['content-length']], path).toEqual(['', undefined, '0'])
  }
})
