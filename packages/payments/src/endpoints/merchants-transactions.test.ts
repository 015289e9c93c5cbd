import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Simulation } from '../acquirers/acquirer.ts'
import { createFinisher } from '../operations/finish-pending.ts'
import { testCards } from '../rules/test-cards.ts'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments({ PAY_EXCHANGE_MAX_AGE: '0' })
})
afterAll(() => service.stop())

async function arrange(simulation?: Simulation) {
  const merchant = await plantMerchant(service)
  const source = await plantTransaction(service, { merchantId: merchant.id, ...(simulation ? { simulation } : {}) })
  const headers = { authorization: merchant.authorization, accept: 'application/json' }
  const charge = (json: Record<string, unknown>, more: Record<string, string> = {}) =>
    service.call(`POST /merchants/${merchant.id}/transactions`, {
      headers: { ...headers, ...more },
      json: { transactionId: source, currency: 'EUR', amount: 500, ...json },
    })
  const read = async (id: string) =>
    (await service.call(`GET /transactions/${id}`, { headers })).json<{ transaction: Record<string, unknown> }>().transaction
  const list = async (query: string) => service.call(`GET /merchants/${merchant.id}/transactions?${query}`, { headers })
  return { merchant, source, headers, charge, read, list }
}

type Made = { transaction: { id: string } }

test('a customer is charged again from an earlier transaction', async () => {
  const { merchant, charge, read } = await arrange()
  const answer = await charge({ custom: { order: { number: 7, tags: ['a', 'b'] }, empty: {} }, cardId: false })
  expect(answer.status).toBe(201)
  expect(Object.keys(answer.json())).toEqual(['transaction'])
  const { id } = answer.json<Made>().transaction
  expect(answer.text).toBe(`{"transaction":{"id":"${id}"}}\n`)
  // What belongs to a merchant carries its tag.
  expect(id.slice(8, 12)).toBe(merchant.id.slice(8, 12))
  expect(await read(id)).toEqual({
    id,
    test: true,
    merchantId: merchant.id,
    created: service.now().toISOString(),
    amount: 500,
    refundedAmount: 0,
    capturedAmount: 0,
    voidedAmount: 0,
    pendingAmount: 500,
    disputedAmount: 0,
    card: { bin: '410000', last4: '0000', expiry: '2066-08-31T23:59:59.999Z', code: { present: false }, scheme: 'visa' },
    tds: 'none',
    currency: 'EUR',
    custom: { order: { number: 7, tags: ['a', 'b'] }, empty: {} },
    recurring: true,
    successful: true,
    error: false,
    descriptor: 'Shop',
    trail: [],
  })
})

test('custom data comes back as it was sent, to the order of its keys', async () => {
  const { charge, headers } = await arrange()
  const { id } = (await charge({ custom: { z: 1, a: { y: null, b: false, c: '' }, 10: 'ten' } })).json<Made>().transaction
  const { text } = await service.call(`GET /transactions/${id}`, { headers })
  expect(text).toContain('"custom":{"10":"ten","z":1,"a":{"y":null,"b":false,"c":""}}')
})

test.each([
  ['authorizationId', (source: string) => ({ transactionId: undefined, authorizationId: source })],
  ['transactionId, which wins over a card', (source: string) => ({ transactionId: source, cardId: '0'.repeat(24) })],
])('the source may be named by %s', async (_, fields) => {
  const { charge, source } = await arrange()
  expect((await charge(fields(source))).status).toBe(201)
})

test('a form will do', async () => {
  const { merchant, source } = await arrange()
  const answer = await service.call(`POST /merchants/${merchant.id}/transactions`, {
    headers: { authorization: merchant.authorization },
    form: { transactionId: source, currency: 'EUR', amount: '500', 'custom[order][id]': '7', descriptor: '' },
  })
  expect(answer.status).toBe(201)
})

test('a saved card is good for a payment still, and that it is deprecated is logged', async () => {
  const { merchant, charge, source, headers, read } = await arrange()
  const { card } = (
    await service.call(`POST /merchants/${merchant.id}/cards`, { headers, json: { transactionId: source } })
  ).json<{ card: { id: string } }>()
  const answer = await charge({ transactionId: false, cardId: card.id })
  expect(answer.status).toBe(201)
  expect(await read(answer.json<Made>().transaction.id)).toMatchObject({ recurring: true, card: { last4: '0000' } })
  expect(service.lines.some(({ message, card: id }) => message.startsWith('deprecated') && id === card.id)).toBe(true)
})

test.each<[string, Record<string, unknown>, string, unknown]>([
  ['no source', { transactionId: undefined }, 'transactionId', 'Required'],
  ['an unknown source', { transactionId: 'f'.repeat(24) }, 'transactionId', 'Must name a transaction of this merchant'],
  ['an unknown card', { transactionId: false, cardId: 'f'.repeat(24) }, 'cardId', 'Must name a saved card of this merchant'],
  ['a source that is no id', { transactionId: 'wrong' }, 'transactionId', 'Must be 24 hex digits'],
  ['no currency', { currency: undefined }, 'currency', 'Required'],
  ['small letters', { currency: 'eur' }, 'currency', 'Must be three capital letters, such as EUR'],
  ['an unknown currency', { currency: 'XXX' }, 'currency', expect.stringContaining('currency')],
  ['a deprecated currency', { currency: 'HRK' }, 'currency', expect.stringContaining('currency')],
  ['a currency that nobody quotes', { currency: 'KPW' }, 'currency', expect.stringContaining('no exchange rate from KPW to EUR')],
  ['no amount', { amount: undefined }, 'amount', 'Required'],
  ['an amount of zero', { amount: 0 }, 'amount', 'Must be at least 1'],
  ['a fraction', { amount: 0.5 }, 'amount', 'Must be a whole number'],
  ['custom data that is a list', { custom: [1] }, 'custom', 'Must be a JSON object of at most 50 kB'],
  ['custom data that is a text', { custom: 'x' }, 'custom', 'Must be a JSON object of at most 50 kB'],
  ['more custom data than we keep', { custom: { text: 'x'.repeat(50_001) } }, 'custom', 'Must be a JSON object of at most 50 kB'],
  ['a descriptor that is too long', { descriptor: 'x'.repeat(23) }, 'descriptor', expect.any(String)],
])('%s is refused, and the field is named', async (_, json, field, message) => {
  const { charge } = await arrange()
  const answer = await charge(json)
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
})

test('a source of another merchant is refused like an unknown one', async () => {
  const { charge } = await arrange()
  const other = await arrange()
  const answer = await charge({ transactionId: other.source })
  expect([answer.status, answer.json()]).toEqual([
    400,
    [{ field: 'transactionId', message: 'Must name a transaction of this merchant' }],
  ])
})

test('a decline is a 400 with the processing error, and is kept as a failed transaction that nothing can be captured of', async () => {
  const { charge, read, headers } = await arrange({ card: { status: 'lost' } })
  const answer = await charge({})
  expect(answer.status).toBe(400)
  const { response, ...error } = answer.json<{ response: Made }>()
  expect(error).toEqual({ code: 10, message: 'Card rejected', text: 'Card rejected', client: true, merchant: false })
  const { id } = response.transaction
  expect(await read(id)).toMatchObject({ successful: false, error, pendingAmount: 0, amount: 500 })
  const capture = await service.call(`POST /transactions/${id}/captures`, { headers, json: { amount: 1 } })
  expect(capture.json()).toEqual([{ field: 'amount', message: 'Can capture at most EUR 0' }])
  expect((await charge({ transactionId: id })).json()).toEqual([
    { field: 'transactionId', message: 'Must name a transaction that was successful' },
  ])
})

test('a live merchant without an acquirer is refused with a processing error', async () => {
  const merchant = await plantMerchant(service, { test: false })
  const source = await plantTransaction(service, { merchantId: merchant.id, test: false })
  const answer = await service.call(`POST /merchants/${merchant.id}/transactions`, {
    headers: { authorization: merchant.authorization },
    json: { transactionId: source, currency: 'EUR', amount: 5 },
  })
  expect([answer.status, answer.json()]).toEqual([400, expect.objectContaining({ code: 27 })])
})

test('a merchant that may not charge is refused with a processing error', async () => {
  const { charge, merchant } = await arrange()
  await service.app.db`update pay.merchants set can_charge_card = false where id = ${merchant.id}`
  expect((await charge({})).json()).toMatchObject({ code: 27 })
})

test('one key makes one transaction, whether it was approved or declined', async () => {
  const [good, bad] = [await arrange(), await arrange({ card: { status: 'expired' } })]
  for (const { charge, list } of [good, bad]) {
    const before = (await list('limit=100')).json<unknown[]>().length
    const answers = await Promise.all(Array.from({ length: 10 }, () => charge({}, { 'idempotency-key': 'one' })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect((await list('limit=100')).json<unknown[]>()).toHaveLength(before + 1)
    expect((await charge({ amount: 501 }, { 'idempotency-key': 'one' })).status).toBe(422)
  }
})

test('an authorization whose answer is lost is no second charge, and is found out later', async () => {
  const { charge, read, source, list } = await arrange({ acquirer: { authorize: 'unanswered' } })
  // Ids of several nodes are in order by the millisecond.
  service.now.advance(0.001)
  const answer = await charge({}, { 'idempotency-key': 'silent' })
  expect(answer.status).toBe(504)
  const { transactionId } = answer.json<{ transactionId: string }>()
  expect(await read(transactionId)).toMatchObject({ successful: false, pendingAmount: 0, error: { code: 12 } })
  expect((await charge({}, { 'idempotency-key': 'silent' })).status).toBe(409)
  service.now.advance(600)
  await createFinisher(service.app, { after: 1 })()
  expect(await read(transactionId)).toMatchObject({ successful: true, pendingAmount: 500, error: false })
  const again = await charge({}, { 'idempotency-key': 'silent' })
  expect([again.status, again.json()]).toEqual([201, { transaction: { id: transactionId } }])
  expect((await list('limit=10')).json<{ id: string }[]>().map(({ id }) => id)).toEqual([transactionId, source])
})

test('lists have one element a line, newest first; an empty one is two brackets on two lines', async () => {
  const { charge, list, source } = await arrange()
  const ids = [source]
  for (let count = 0; count < 4; count++) {
    // Ids of several processes are in order by the millisecond.
    service.now.advance(0.001)
    ids.unshift((await charge({ amount: 100 + count })).json<Made>().transaction.id)
  }
  const all = await list('limit=10')
  expect(all.text.split('\n')).toHaveLength(5 + 3)
  expect(all.text.startsWith('[\n{"id":')).toBe(true)
  expect(all.json<{ id: string }[]>().map(({ id }) => id)).toEqual(ids)
  const page = async (query: string) => (await list(query)).json<{ id: string }[]>().map(({ id }) => id)
  const [a, b, c, d, e] = ids as [string, string, string, string, string]
  expect(await page('limit=2')).toEqual([a, b])
  expect(await page(`limit=2&before=${b}`)).toEqual([c, d])
  expect(await page(`limit=2&after=${c}`)).toEqual([b, a])
  expect(await page(`limit=2&after=${e}`)).toEqual([d, c])
  expect(await page(`limit=10&after=${e}&before=${a}`)).toEqual([b, c, d])
  expect(await page(`limit=1&after=${e}&before=${a}`)).toEqual([b])
  const second = Math.floor(service.now().getTime() / 1000).toString(16)
  expect(await page(`limit=10&before=${second}0000000000000000`)).toEqual([])
  expect((await list(`limit=10&before=${'0'.repeat(24)}`)).text).toBe('[\n]\n')
  expect(await page('limit=10&filter[amount]=102')).toEqual([b])
  expect(await page('limit=10&filter%5Brecurring%5D=n')).toEqual([e])
  expect(await page('limit=10&filter[test]=y&filter[successful]=1&filter[nonsense]=1&sort=x&skip=2')).toEqual(ids)
  expect(await page('limit=10&filter[test]=0')).toEqual([])
})

test.each([
  ['none', ''],
  ['zero', 'limit=0'],
  ['1001', 'limit=1001'],
  ['a fraction', 'limit=1.5'],
  ['words', 'limit=ten'],
])('a limit of %s is refused', async (_, query) => {
  const { list } = await arrange()
  const answer = await list(query)
  expect([answer.status, answer.json<{ field: string }[]>()[0]?.field]).toEqual([400, 'limit'])
})

test('a plain charge and one in strokes come to the same', async () => {
  const tell = async (simulation: Simulation | undefined) => {
    const { charge, read, merchant, source } = await arrange(simulation)
    const { id } = (await charge({ custom: { order: 7 }, descriptor: 'Order 7' })).json<Made>().transaction
    const [row] = await service.app.db<Record<string, unknown>>`
      select * from pay.transactions where id = ${id} and source_id = ${source}`
    const told = await read(id)
    const operations = await service.app.db`
      select kind, amount, currency, approved, code from pay.simulator_operations where reference = ${id}`
    const hidden = { merchant_id: '', id: '', source_id: '', acquirer_reference: '', simulation: null }
    return {
      row: { ...row, ...hidden },
      told: { ...told, id: '', merchantId: '' },
      operations,
      tag: id.slice(8, 12) === merchant.id.slice(8, 12),
    }
  }
  expect(await tell(undefined)).toEqual(await tell({ card: { status: 'valid' } }))
})

test.each(testCards.map(({ number, fate }) => [number, fate] as const))(
  'what the simulator makes of %s (%s) it makes of a plain charge, too',
  async (number, fate) => {
    const { charge, source } = await arrange()
    await service.app.db`
    update pay.transactions set card_bin = ${number.slice(0, 6)}, card_last4 = ${number.slice(-4)} where id = ${source}`
    const answer = await charge({ amount: 40413 })
    const expected = fate === 'approved' ? undefined : fate === 'by amount' ? 7 : fate
    expect(answer.json<{ code?: number }>().code).toBe(expected)
  },
)

test('a card that has expired is declined', async () => {
  const { charge, source } = await arrange()
  await service.app.db`update pay.transactions set card_expiry = '2029-12-31T23:59:59.999Z' where id = ${source}`
  expect((await charge({})).json()).toMatchObject({ code: 6 })
})
