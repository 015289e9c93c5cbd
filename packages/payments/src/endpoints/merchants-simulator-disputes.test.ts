import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments({ PAY_EXCHANGE_MAX_AGE: '0' })
})
afterAll(() => service.stop())

type Told = { transaction: Record<string, unknown> & { trail: Record<string, unknown>[] } }
type Raised = { dispute: { id: string } & Record<string, unknown> }

/** A payment of 1000 of which something was captured. */
async function arrange(given: Parameters<typeof plantMerchant>[1] & { captured?: number; paidIn?: string } = {}) {
  const { captured = 1000, paidIn, ...terms } = given
  const merchant = await plantMerchant(service, terms)
  const id = await plantTransaction(service, { merchantId: merchant.id, currency: paidIn ?? merchant.currency })
  const headers = { authorization: merchant.authorization }
  const post = (path: string, json: unknown, more: Record<string, string> = {}) =>
    service.call(`POST ${path}`, { headers: { ...headers, ...more }, json })
  const get = async <T>(path: string) => (await service.call(`GET ${path}`, { headers })).json<T>()
  const arranged = {
    merchant,
    id,
    get,
    move: (what: 'captures' | 'refunds' | 'voids', amount: number) => post(`/transactions/${id}/${what}`, { amount }),
    dispute: (json: Record<string, unknown> = {}, more?: Record<string, string>) =>
      post(`/merchants/${merchant.id}/simulator/disputes`, { transactionId: id, ...json }, more),
    read: async () => (await get<Told>(`/transactions/${id}`)).transaction,
    lines: () => get<Record<string, unknown>[]>(`/merchants/${merchant.id}/lines?limit=100`),
    balance: async () => (await get<{ balance: { amount: number } }>(`/merchants/${merchant.id}/balance`)).balance.amount,
    disputes: () => get<Record<string, unknown>[]>(`/disputes?limit=100&filter[merchantId]=${merchant.id}`),
  }
  if (captured > 0) expect((await arranged.move('captures', captured)).status).toBe(201)
  // Lines of several processes are in order by the millisecond.
  service.now.advance(0.001)
  return arranged
}

function postingsOf(lineId: unknown) {
  return service.app.db`
    select debit, credit, currency, amount from pay.postings where line_id = ${String(lineId)} order by number`
}

test('a dispute is answered with in full, stands in list and trail, and is taken from the balance with its fee', async () => {
  const { merchant, id, dispute, read, lines, balance, disputes, get } = await arrange()
  const answer = await dispute({ amount: 400, reason: { code: 131 }, due: '2030-02-01T12:00:00+01:00' })
  const raised = answer.json<Raised>()
  expect([answer.status, raised]).toEqual([
    201,
    {
      dispute: {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        merchantId: merchant.id,
        transactionId: id,
        created: service.now().toISOString(),
        amount: 400,
        reason: { code: 131, title: 'Merchandise or Services Not Received' },
        due: '2030-02-01T11:00:00.000Z',
      },
    },
  ])
  expect(await disputes()).toEqual([raised.dispute])
  expect(await get(`/disputes/${raised.dispute.id}`)).toEqual(raised)

  const transaction = await read()
  expect(transaction).toMatchObject({ capturedAmount: 1000, refundedAmount: 0, disputedAmount: 400, pendingAmount: 0 })
  const entry = transaction.trail[1]
  expect(entry).toEqual({
    fee: { flat: 1500, rate: 0 },
    amount: 400,
    balance: -1900,
    created: service.now().toISOString(),
    dispute: { id: raised.dispute.id },
    lineId: expect.stringMatching(/^[0-9a-f]{24}$/),
  })
  expect((await lines())[0]).toEqual({
    id: entry?.lineId,
    merchantId: merchant.id,
    test: true,
    created: service.now().toISOString(),
    balance: -1900,
    fee: 1500,
    amount: { currency: 'EUR', amount: 400 },
    transactionId: id,
    dispute: true,
  })
  expect(await postingsOf(entry?.lineId)).toEqual([
    { debit: 'merchant', credit: 'reserve', currency: 'EUR', amount: 400 },
    { debit: 'merchant', credit: 'fees', currency: 'EUR', amount: 1500 },
  ])
  expect(await balance()).toBe(950 - 1900)
})

test('without an amount, reason and due date it is a cardholder’s dispute about all that is left, for two weeks', async () => {
  const { dispute } = await arrange({ captured: 700 })
  await dispute({ amount: 200 })
  const due = new Date(service.now().getTime() + 14 * 24 * 60 * 60 * 1000).toISOString()
  expect((await dispute()).json()).toMatchObject({
    dispute: { amount: 500, reason: { code: 4853, title: 'Cardholder Dispute' }, due },
  })
  const none = await dispute()
  expect([none.status, none.json()]).toEqual([400, [{ field: 'amount', message: 'Can dispute at most EUR 0' }]])
})

test('what is disputed cannot be refunded, and what is still reserved can be captured', async () => {
  const { dispute, move, read } = await arrange({ captured: 600 })
  await dispute({ amount: 400 })
  const refused = await move('refunds', 201)
  expect([refused.status, refused.json()]).toEqual([400, [{ field: 'amount', message: 'Can refund at most EUR 2' }]])
  expect((await move('refunds', 200)).status).toBe(201)
  expect((await move('captures', 300)).status).toBe(201)
  expect((await move('refunds', 301)).json()).toEqual([{ field: 'amount', message: 'Can refund at most EUR 3' }])
  expect((await move('voids', 100)).status).toBe(201)
  expect(await read()).toMatchObject({ capturedAmount: 900, refundedAmount: 200, disputedAmount: 400, voidedAmount: 100 })
})

test('what was refunded can be disputed all the same, and is paid twice', async () => {
  const { id, dispute, move, balance, read } = await arrange()
  expect((await move('refunds', 1000)).status).toBe(201)
  expect((await dispute({ amount: 1000 })).status).toBe(201)
  expect(await read()).toMatchObject({ refundedAmount: 1000, disputedAmount: 1000 })
  expect(await balance()).toBe(-25 - 1000 - 1500)
  expect(await service.app.db`select held from pay.disputes where transaction_id = ${id}`).toEqual([{ held: 0 }])
})

test('a payment in another currency is disputed with what it came to, and the fee is exchanged', async () => {
  const { merchant, dispute, read, balance } = await arrange({ currency: 'DKK', paidIn: 'EUR', flat: 0, rate: '0' })
  await service.app.db`
    update pay.prices set dispute_currency = 'EUR', dispute_amount = 1000 where merchant_id = ${merchant.id}`
  const gross = await balance()
  const fee = Math.round(1000 * Number(service.app.rates.find('EUR', 'DKK')?.rate))
  expect(gross).toBe(fee)
  await dispute()
  const [, entry] = (await read()).trail
  expect(entry).toMatchObject({ fee: { flat: fee, rate: 0 }, amount: 1000, balance: -gross - fee })
  expect(await postingsOf(entry?.lineId)).toEqual([
    { debit: 'merchant', credit: 'reserve', currency: 'DKK', amount: gross },
    { debit: 'merchant', credit: 'fees', currency: 'DKK', amount: fee },
  ])
  expect(await balance()).toBe(-fee)
})

test.each([
  ['no transaction', { transactionId: undefined }, 'transactionId', 'Required'],
  ['no id', { transactionId: 'x' }, 'transactionId', 'Must be 24 hex digits'],
  ['an unknown transaction', { transactionId: 'f'.repeat(24) }, 'transactionId', 'There is no transaction with this id'],
  ['more than was captured', { amount: 601 }, 'amount', 'Can dispute at most EUR 6'],
  ['zero', { amount: 0 }, 'amount', 'Must be at least 1'],
  ['a negative amount', { amount: -5 }, 'amount', 'Must be at least 1'],
  ['a fraction', { amount: 1.5 }, 'amount', 'Must be a whole number'],
  ['an amount that is none', { amount: 2 ** 53 }, 'amount', 'Must be at most 9007199254740991'],
  ['a reason of words', { reason: { code: 'fraud' } }, 'reason.code', 'Must be a whole number'],
  ['a reason that is too large', { reason: { code: 100_000 } }, 'reason.code', 'Must be at most 99999'],
  [
    'a reason without a name',
    { reason: { code: 77 } },
    'reason.title',
    expect.stringContaining('Required, unless reason.code is one of 104,'),
  ],
  ['a date that no calendar has', { due: '2030-02-31T00:00:00Z' }, 'due', 'Must be a valid date-time'],
  ['a number for a date', { due: 5 }, 'due', expect.any(String)],
])('a dispute with %s is refused, and the field is named', async (_, json, field, message) => {
  const { dispute, read, disputes } = await arrange({ captured: 600 })
  const answer = await dispute(json)
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
  expect([(await read()).trail.length, await disputes()]).toEqual([1, []])
})

test('a transaction of another merchant is as good as none', async () => {
  const [own, other] = [await arrange(), await arrange()]
  const answer = await own.dispute({ transactionId: other.id })
  expect([answer.status, answer.json()]).toEqual([
    400,
    [{ field: 'transactionId', message: 'There is no transaction with this id' }],
  ])
  expect(await other.disputes()).toEqual([])
})

test('the simulator leaves live merchants alone, and strangers learn nothing', async () => {
  const live = await plantMerchant(service, { test: false })
  const path = `/merchants/${live.id}/simulator/disputes`
  const answer = await service.call(`POST ${path}`, { headers: { authorization: live.authorization }, json: {} })
  expect([answer.status, answer.json()]).toEqual([
    400,
    [{ field: 'merchant_id', message: 'This merchant is live: the simulator is for test merchants alone' }],
  ])
  const stranger = await createApp(service.call)
  const refused = await service.call(`POST ${path}`, { headers: { authorization: stranger.authorization }, json: {} })
  expect([refused.status, refused.text]).toEqual([404, ''])
  expect((await service.call(`POST ${path}`, { json: {} })).status).toBe(401)
})

test('twenty times at once with one key it is one dispute, told twenty times or yet under way', async () => {
  const { dispute, disputes, balance } = await arrange()
  const key = { 'idempotency-key': randomUUID() }
  const answers = await Promise.all(Array.from({ length: 20 }, () => dispute({ amount: 100 }, key)))
  const statuses = new Set(answers.map(({ status }) => status))
  expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([])
  const again = await dispute({ amount: 100 }, key)
  const told = await disputes()
  expect(told).toHaveLength(1)
  expect([again.status, again.json<Raised>().dispute]).toEqual([201, told[0]])
  expect(await balance()).toBe(950 - 1600)
  expect((await dispute({ amount: 101 }, key)).status).toBe(422)
})

test('twenty disputes of 300 at once on 1000: three pass', async () => {
  const { dispute, read, balance } = await arrange({ disputeFee: 0 })
  const answers = await Promise.all(Array.from({ length: 20 }, () => dispute({ amount: 300 })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(answers.find(({ status }) => status !== 201)?.json()).toEqual([
    { field: 'amount', message: 'Can dispute at most EUR 1' },
  ])
  expect(await read()).toMatchObject({ disputedAmount: 900 })
  expect(await balance()).toBe(950 - 900)
})

test('of refunds and a dispute at once nothing is held that is refunded', async () => {
  const { id, dispute, move, read, balance } = await arrange({ rate: '0', flat: 0, disputeFee: 0 })
  const [disputed, ...refunds] = await Promise.all([
    dispute({ amount: 1000 }),
    ...Array.from({ length: 10 }, () => move('refunds', 150)),
  ])
  expect(disputed?.status).toBe(201)
  const refunded = refunds.filter(({ status }) => status === 201).length * 150
  expect(await read()).toMatchObject({ refundedAmount: refunded, disputedAmount: 1000 })
  expect(await balance()).toBe(0 - refunded)
  const [pots] = await service.app.db<{ refundable: number; held: number }>`
    select refundable, held from pay.transactions join pay.disputes on transaction_id = transactions.id
    where transactions.id = ${id}`
  expect(pots).toEqual({ refundable: 0, held: 1000 - refunded })
})
