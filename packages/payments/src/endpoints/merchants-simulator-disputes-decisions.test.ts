import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments({ PAY_EXCHANGE_MAX_AGE: '0' })
})
afterAll(() => service.stop())

type Told = { transaction: Record<string, unknown> & { trail: Record<string, unknown>[] } }
type Dispute = { dispute: { id: string } & Record<string, unknown> }

/** A payment of 1000, captured and disputed. */
async function arrange(
  given: Parameters<typeof plantMerchant>[1] & { disputed?: number; refunded?: number; paidIn?: string } = {},
) {
  const { disputed = 400, refunded = 0, paidIn, ...terms } = given
  const merchant = await plantMerchant(service, terms)
  const id = await plantTransaction(service, { merchantId: merchant.id, currency: paidIn ?? merchant.currency })
  const headers = { authorization: merchant.authorization }
  const post = (path: string, json: unknown, more: Record<string, string> = {}) => {
    // Lines of several processes are in order by the millisecond.
    service.now.advance(0.001)
    return service.call(`POST ${path}`, { headers: { ...headers, ...more }, json })
  }
  const get = async <T>(path: string) => (await service.call(`GET ${path}`, { headers })).json<T>()
  const move = (what: 'captures' | 'refunds', amount: number) => post(`/transactions/${id}/${what}`, { amount })
  expect((await move('captures', 1000)).status).toBe(201)
  if (refunded > 0) expect((await move('refunds', refunded)).status).toBe(201)
  const raised = await post(`/merchants/${merchant.id}/simulator/disputes`, { transactionId: id, amount: disputed })
  const { dispute } = raised.json<Dispute>()
  return {
    merchant,
    dispute,
    move,
    decide: (json: unknown, more?: Record<string, string>) =>
      post(`/merchants/${merchant.id}/simulator/disputes/${dispute.id}/decisions`, json, more),
    read: async () => (await get<Told>(`/transactions/${id}`)).transaction,
    lines: () => get<Record<string, unknown>[]>(`/merchants/${merchant.id}/lines?limit=100`),
    balance: async () => (await get<{ balance: { amount: number } }>(`/merchants/${merchant.id}/balance`)).balance.amount,
  }
}

function postingsOf(lineId: unknown) {
  return service.app.db`
    select debit, credit, currency, amount from pay.postings where line_id = ${String(lineId)} order by number`
}

test('a dispute that is won gives back what it took, fee and all, and what it held can be refunded', async () => {
  const { dispute, decide, read, lines, balance, move } = await arrange()
  service.now.advance(60)
  const answer = await decide({ won: true })
  expect([answer.status, answer.json()]).toEqual([201, { dispute: { ...dispute, won: true } }])

  const transaction = await read()
  const entry = transaction.trail[1]
  expect(transaction).toMatchObject({ capturedAmount: 1000, disputedAmount: 0 })
  expect(entry).toMatchObject({ dispute: { id: dispute.id, won: true }, amount: 400, balance: 0, fee: { flat: 0, rate: 0 } })
  const [line, opening] = await lines()
  expect(line).toMatchObject({ dispute: true, won: true, balance: 1900, fee: -1500, amount: { currency: 'EUR', amount: 400 } })
  expect(line).toMatchObject({ created: service.now().toISOString(), transactionId: transaction.id })
  expect(opening).toMatchObject({ id: entry?.lineId, dispute: true, balance: -1900 })
  expect([line, opening].some((each) => each && 'lost' in each)).toBe(false)
  expect(await postingsOf(line?.id)).toEqual([
    { debit: 'reserve', credit: 'merchant', currency: 'EUR', amount: 400 },
    { debit: 'fees', credit: 'merchant', currency: 'EUR', amount: 1500 },
  ])
  expect(await balance()).toBe(950)
  expect((await move('refunds', 1000)).status).toBe(201)
  expect(await balance()).toBe(-25)
})

test('a dispute that is lost takes no more, and what it held is gone', async () => {
  const { dispute, decide, read, lines, balance, move } = await arrange()
  const answer = await decide({ won: false })
  expect([answer.status, answer.json()]).toEqual([201, { dispute: { ...dispute, lost: true } }])
  const transaction = await read()
  expect(transaction).toMatchObject({ disputedAmount: 400, refundedAmount: 0 })
  expect(transaction.trail[1]).toMatchObject({
    dispute: { id: dispute.id, lost: true },
    balance: -1900,
    fee: { flat: 1500, rate: 0 },
  })
  const [line] = await lines()
  expect(line).toMatchObject({ dispute: true, lost: true, balance: 0, fee: 0, amount: { currency: 'EUR', amount: 400 } })
  expect(await postingsOf(line?.id)).toEqual([{ debit: 'reserve', credit: 'acquirer', currency: 'EUR', amount: 400 }])
  expect(await balance()).toBe(950 - 1900)
  expect((await move('refunds', 601)).json()).toEqual([{ field: 'amount', message: 'Can refund at most EUR 6' }])
})

test('what is lost in another currency goes back through the exchange', async () => {
  const { decide, lines, balance } = await arrange({
    currency: 'DKK',
    paidIn: 'EUR',
    rate: '0',
    flat: 0,
    disputeFee: 0,
    disputed: 1000,
  })
  expect(await balance()).toBe(0)
  await decide({ won: false })
  const [line, , capture] = await lines()
  expect(await postingsOf(line?.id)).toEqual([
    { debit: 'exchange', credit: 'acquirer', currency: 'EUR', amount: 1000 },
    { debit: 'reserve', credit: 'exchange', currency: 'DKK', amount: capture?.balance },
  ])
  const left = await service.app.db`
    select account from pay.ledger where merchant_id = ${String(line?.merchantId)} group by account, currency having sum(amount) <> 0`
  expect(left).toEqual([])
})

test('a dispute of what was refunded before gives back, when won, only what it held', async () => {
  const { decide, move, balance, read } = await arrange({ refunded: 800, disputed: 1000, disputeFee: 0, rate: '0', flat: 0 })
  expect(await balance()).toBe(-800)
  await decide({ won: true })
  expect(await balance()).toBe(200)
  expect((await move('refunds', 201)).json()).toEqual([{ field: 'amount', message: 'Can refund at most EUR 2' }])
  expect((await move('refunds', 200)).status).toBe(201)
  expect(await read()).toMatchObject({ refundedAmount: 1000, disputedAmount: 0 })
  expect(await balance()).toBe(0)
})

test('deciding again the same way changes nothing, the other way is refused', async () => {
  const { decide, lines, balance, dispute } = await arrange()
  const first = await decide({ won: true })
  const moment = service.now().toISOString()
  service.now.advance(1)
  const second = await decide({ won: true })
  expect([second.status, second.json()]).toEqual([201, first.json()])
  const other = await decide({ won: false })
  expect([other.status, other.json()]).toEqual([
    400,
    [{ field: 'won', message: `Must be true: this dispute was won on ${moment}, and that is final` }],
  ])
  expect([(await lines()).length, await balance(), dispute.amount]).toEqual([3, 950, 400])
})

test('of twenty decisions at once, half of them for the merchant, one decides', async () => {
  const { decide, lines, balance, read } = await arrange({ disputeFee: 0 })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => decide({ won: index % 2 === 0 })))
  const passed = answers.filter(({ status }) => status === 201).map((answer) => 'won' in answer.json<Dispute>().dispute)
  expect(passed).toHaveLength(10)
  expect(new Set(passed).size).toBe(1)
  expect(await lines()).toHaveLength(3)
  expect(await balance()).toBe(passed[0] ? 950 : 550)
  expect(await read()).toMatchObject({ disputedAmount: passed[0] ? 0 : 400 })
})

test('of a decision and refunds at once never more goes back than was captured', async () => {
  const { decide, move, read, balance } = await arrange({ disputed: 700, disputeFee: 0, rate: '0', flat: 0 })
  const [decided, ...refunds] = await Promise.all([
    decide({ won: true }),
    ...Array.from({ length: 12 }, () => move('refunds', 100)),
  ])
  expect(decided?.status).toBe(201)
  const passed = refunds.filter(({ status }) => status === 201).length
  expect(passed).toBeGreaterThanOrEqual(3)
  expect(passed).toBeLessThanOrEqual(10)
  expect(await balance()).toBe(1000 - passed * 100)
  const rest = await move('refunds', 1000 - passed * 100)
  expect(rest.status).toBe(passed === 10 ? 400 : 201)
  expect(await read()).toMatchObject({ refundedAmount: 1000, disputedAmount: 0 })
})

test('with a key, a decision is told again', async () => {
  const { decide } = await arrange()
  const key = { 'idempotency-key': randomUUID() }
  const first = await decide({ won: false }, key)
  const again = await decide({ won: false }, key)
  expect([again.status, again.text]).toEqual([201, first.text])
  expect((await decide({ won: true }, key)).status).toBe(422)
})

test('a form says true and false in words', async () => {
  const { merchant, dispute } = await arrange()
  const path = `POST /merchants/${merchant.id}/simulator/disputes/${dispute.id}/decisions`
  const answer = await service.call(path, { headers: { authorization: merchant.authorization }, form: { won: 'false' } })
  expect(answer.json()).toMatchObject({ dispute: { lost: true } })
})

test.each([
  ['nothing', {}, 'Required'],
  ['words', { won: 'perhaps' }, expect.any(String)],
])('a decision of %s is refused', async (_, json, message) => {
  const { decide, read } = await arrange()
  const answer = await decide(json)
  expect([answer.status, answer.json()]).toEqual([400, [{ field: 'won', message }]])
  expect((await read()).trail[1]).toMatchObject({ dispute: { id: expect.any(String) }, balance: -1900 })
})

test('a dispute is decided by its own merchant alone, and by the simulator if that is for tests', async () => {
  const { merchant, dispute, read } = await arrange()
  const other = await plantMerchant(service)
  const live = await plantMerchant(service, { test: false })
  const stranger = await createApp(service.call)
  const decide = (merchantId: string, disputeId: string, { authorization }: { authorization: string }) =>
    service.call(`POST /merchants/${merchantId}/simulator/disputes/${disputeId}/decisions`, {
      headers: { authorization },
      json: { won: true },
    })
  for (const answer of [
    await decide(other.id, dispute.id, other),
    await decide(merchant.id, dispute.id, other),
    await decide(merchant.id, dispute.id, stranger),
    await decide(merchant.id, 'f'.repeat(24), merchant),
    await decide(merchant.id, 'x', merchant),
  ])
    expect([answer.status, answer.text]).toEqual([404, ''])
  const refused = await decide(live.id, dispute.id, live)
  expect([refused.status, refused.json<{ field: string }[]>()[0]?.field]).toEqual([400, 'merchant_id'])
  expect((await read()).trail[1]).toMatchObject({ dispute: { id: dispute.id } })
  expect(await service.app.db`select won from pay.disputes where id = ${dispute.id}`).toEqual([{ won: null }])
})
