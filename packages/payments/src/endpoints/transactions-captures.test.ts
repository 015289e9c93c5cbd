import { oneProcess } from '@tollgate/kit/testing'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments({ PAY_API_MAX_REQUEST_DURATION: '60' })
})
afterAll(() => service.stop())

type Told = { transaction: Record<string, unknown> & { trail: Record<string, unknown>[] } }

async function arrange(
  given: Parameters<typeof plantMerchant>[1] = {},
  transaction: { amount?: number; currency?: string } = {},
) {
  const merchant = await plantMerchant(service, given)
  const id = await plantTransaction(service, { merchantId: merchant.id, currency: merchant.currency, ...transaction })
  const headers = { authorization: merchant.authorization }
  const move = (what: string, json: unknown, more: Record<string, string> = {}) =>
    service.call(`POST /transactions/${id}/${what}`, { headers: { ...headers, ...more }, json })
  const read = async () => (await service.call(`GET /transactions/${id}`, { headers })).json<Told>()
  return { merchant, id, headers, move, read }
}

test('a capture answers with the whole transaction, as a following GET does, and writes line and postings', async () => {
  const { id, merchant, move, read } = await arrange()
  const answer = await move('captures', { amount: 400, currency: 'EUR', descriptor: 'Order 7' })
  expect(answer.status).toBe(201)
  expect(answer.json<Told>()).toEqual(await read())
  const { transaction } = answer.json<Told>()
  expect(transaction).toMatchObject({ capturedAmount: 400, pendingAmount: 600, refundedAmount: 0, voidedAmount: 0, error: false })
  const [entry] = transaction.trail
  expect(entry).toEqual({
    fee: { flat: 25, rate: 10 },
    amount: 400,
    balance: 365,
    created: service.now().toISOString(),
    capture: true,
    descriptor: 'Order 7',
    lineId: expect.stringMatching(/^[0-9a-f]{24}$/),
  })
  const lineId = String(entry?.lineId)
  expect(await service.app.db`select balance, fee, kind, transaction_id from pay.lines where id = ${lineId}`).toEqual([
    { balance: 365, fee: 35, kind: 'capture', transaction_id: id },
  ])
  expect(
    await service.app.db`select debit, credit, currency, amount from pay.postings where line_id = ${lineId} order by number`,
  ).toEqual([
    { debit: 'acquirer', credit: 'merchant', currency: 'EUR', amount: 400 },
    { debit: 'merchant', credit: 'fees', currency: 'EUR', amount: 35 },
  ])
  expect(merchant.currency).toBe('EUR')
})

test('the keys of a transaction come in the order in which they always came', async () => {
  const { move } = await arrange()
  const { transaction } = (await move('captures', { amount: 1 })).json<Told>()
  expect(Object.keys(transaction).join(' ')).toBe(
    'id test merchantId created amount refundedAmount capturedAmount voidedAmount pendingAmount disputedAmount card tds currency custom recurring successful error descriptor trail',
  )
})

test('the worked example: 300 reserved, 200 captured, 120 refunded', async () => {
  const { move } = await arrange({}, { amount: 300 })
  expect((await move('captures', { amount: 200 })).json<Told>().transaction).toMatchObject({
    capturedAmount: 200,
    pendingAmount: 100,
  })
  const { transaction } = (await move('refunds', { amount: 120 })).json<Told>()
  expect(transaction).toMatchObject({ capturedAmount: 200, pendingAmount: 100, refundedAmount: 120 })
  expect(transaction.trail).toHaveLength(2)
  expect(transaction.trail[1]).toMatchObject({ refund: true, fee: { flat: 0, rate: -3 }, balance: -117, amount: 120 })
})

test('300 reserved, 260 voided leaves 40, without line or descriptor', async () => {
  const { move } = await arrange({}, { amount: 300 })
  const { transaction } = (await move('voids', { amount: 260 })).json<Told>()
  expect(transaction).toMatchObject({ voidedAmount: 260, pendingAmount: 40 })
  expect(transaction.trail).toEqual([
    { fee: { flat: 0, rate: 0 }, amount: 260, balance: 0, created: service.now().toISOString(), void: true },
  ])
})

test.each([
  ['captures', 1001, 'Can capture at most EUR 10'],
  ['voids', 1001, 'Can void at most EUR 10'],
  ['refunds', 1, 'Can refund at most EUR 0'],
])('%s of too much are refused with the most that is possible', async (what, amount, message) => {
  const { move } = await arrange()
  const answer = await move(what, { amount })
  expect([answer.status, answer.json()]).toEqual([400, [{ field: 'amount', message }]])
})

test.each([
  ['nothing', {}, 'amount', 'Required'],
  ['zero', { amount: 0 }, 'amount', 'Must be at least 1'],
  ['a negative amount', { amount: -1 }, 'amount', 'Must be at least 1'],
  ['a fraction', { amount: 10.5 }, 'amount', 'Must be a whole number'],
  ['what floating point makes of 19.99', { amount: 1998.9999999999998 }, 'amount', 'Must be a whole number'],
  ['two to the power of 53', { amount: 2 ** 53 }, 'amount', 'Must be at most 9007199254740991'],
  ['words', { amount: 'ten' }, 'amount', 'Must be a whole number'],
  ['an exponent as text', { amount: '1e3' }, 'amount', 'Must be a whole number'],
  ['false', { amount: false }, 'amount', 'Required'],
  ['a list', { amount: [1] }, 'amount', 'Must be a whole number'],
  ['another currency', { amount: 1, currency: 'USD' }, 'currency', 'Must be EUR, the currency of the transaction'],
  ['a descriptor of 23 characters', { amount: 1, descriptor: 'x'.repeat(23) }, 'descriptor', expect.any(String)],
  ['a descriptor with an umlaut', { amount: 1, descriptor: 'Caf\u00e9' }, 'descriptor', expect.any(String)],
])('a capture with %s is refused, and the field is named', async (_, json, field, message) => {
  const { move, read } = await arrange()
  const answer = await move('captures', json)
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
  expect((await read()).transaction.trail).toEqual([])
})

test.each([
  ['digits as text', { amount: '150' }],
  ['a whole number with a point', { amount: 150.0 }],
  ['a form’s way of writing it', { amount: '150.00' }],
])('an amount as %s is taken', async (_, json) => {
  const { move } = await arrange()
  expect((await move('captures', json)).json<Told>().transaction).toMatchObject({ capturedAmount: 150 })
})

test.each([
  ['JPY', 5000, 5000, 'Can capture at most JPY 5000'],
  ['KWD', 5000, 5000, 'Can capture at most KWD 5'],
])('%s has its own exponent in messages and is exchanged rightly', async (currency, amount, _, message) => {
  const { move } = await arrange({}, { amount, currency })
  const answer = await move('captures', { amount: amount + 1 })
  expect(answer.json()).toEqual([{ field: 'amount', message }])
})

test('a foreign currency is exchanged into that of the merchant, by a rate that is kept', async () => {
  const { move, id } = await arrange({ currency: 'DKK', flat: 0, rate: '0' }, { amount: 500, currency: 'EUR' })
  const { transaction } = (await move('captures', { amount: 500 })).json<Told>()
  const [kept] = await service.app.db<{ exchange_rate: string; exchange_source: string; exchange_day: Date }>`
    select exchange_rate, exchange_source, exchange_day from pay.trail where transaction_id = ${id}`
  expect(Number(kept?.exchange_rate)).toBeGreaterThan(7)
  expect(transaction.trail[0]?.balance).toBe(Math.round(500 * Number(kept?.exchange_rate)))
  expect(kept?.exchange_source).toBeTruthy()
  expect(
    await service.app
      .db`select debit, credit, currency, amount from pay.postings where line_id = ${String(transaction.trail[0]?.lineId)} order by number`,
  ).toEqual([
    { debit: 'acquirer', credit: 'exchange', currency: 'EUR', amount: 500 },
    { debit: 'exchange', credit: 'merchant', currency: 'DKK', amount: transaction.trail[0]?.balance },
  ])
  // All of it back in three parts brings back exactly what came in.
  for (const amount of [167, 166, 167]) await move('refunds', { amount })
  const balances = await service.app.db<{ sum: string }>`select sum(balance) from pay.lines where transaction_id = ${id}`
  expect(Number(balances[0]?.sum)).toBe(0)
})

test('a rate that is too old is refused, and nothing is taken', async () => {
  const strict = await startPayments({ PAY_EXCHANGE_MAX_AGE: '7' })
  onTestFinished(() => strict.stop())
  const merchant = await plantMerchant(strict, { currency: 'DKK' })
  const id = await plantTransaction(strict, { merchantId: merchant.id, currency: 'USD' })
  const headers = { authorization: merchant.authorization, accept: 'application/json' }
  const answer = await strict.call(`POST /transactions/${id}/captures`, { headers, json: { amount: 100 } })
  expect(answer.status).toBe(503)
  expect(answer.json()).toMatchObject({ code: 'exchange_unavailable' })
  const { transaction } = (await strict.call(`GET /transactions/${id}`, { headers })).json<Told>()
  expect(transaction).toMatchObject({ pendingAmount: 1000, trail: [] })
})

test('fifty captures of 300 at once on 1000: exactly three pass', async () => {
  const { move, read } = await arrange()
  const answers = await Promise.all(Array.from({ length: 50 }, () => move('captures', { amount: 300 })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(47)
  expect(new Set(answers.filter(({ status }) => status === 400).map(({ text }) => text))).toEqual(
    new Set([`[{"field":"amount","message":"Can capture at most EUR 1"}]\n`]),
  )
  const { transaction } = await read()
  expect(transaction).toMatchObject({ capturedAmount: 900, pendingAmount: 100 })
  expect(transaction.trail).toHaveLength(3)
})

test('every answer of captures that came at once is whole: as many entries as its amounts say', async () => {
  const { move } = await arrange()
  const answers = await Promise.all(Array.from({ length: 20 }, () => move('captures', { amount: 50 })))
  for (const answer of answers) {
    const { transaction } = answer.json<Told>()
    expect(transaction.trail.length * 50).toBe(transaction.capturedAmount)
  }
})

test('a thousand refunds at once give back exactly what was captured', async () => {
  const { move, read, id } = await arrange({ rate: '0.029' }, { amount: 2000 })
  await move('captures', { amount: 2000 })
  const answers = await Promise.all(Array.from({ length: 1000 }, () => move('refunds', { amount: 7 })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(285)
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(715)
  await move('refunds', { amount: 5 })
  const { transaction } = await read()
  expect(transaction).toMatchObject({ refundedAmount: 2000, capturedAmount: 2000 })
  const [sums] = await service.app.db<{ balance: string; fee: string }>`
    select sum(balance) as balance, sum(fee) as fee from pay.lines where transaction_id = ${id}`
  // All of the percentage came back, the flat part did not.
  expect([Number(sums?.balance), Number(sums?.fee)]).toEqual([-25, 25])
}, 30_000)

test('the same key and body get the same answer, and have one effect', async () => {
  const { move, read } = await arrange()
  const first = await move('captures', { amount: 300 }, { 'idempotency-key': 'order-7' })
  service.now.advance(60)
  await move('captures', { amount: 100 })
  const again = await move('captures', { amount: '300' }, { 'idempotency-key': 'order-7' })
  expect([again.status, again.text]).toEqual([201, first.text])
  expect((await read()).transaction).toMatchObject({ capturedAmount: 400 })
})

test('a key with another body, or another path, is refused', async () => {
  const { move } = await arrange()
  const other = await arrange()
  await move('captures', { amount: 300 }, { 'idempotency-key': 'k' })
  expect((await move('captures', { amount: 301 }, { 'idempotency-key': 'k' })).status).toBe(422)
  expect((await move('voids', { amount: 300 }, { 'idempotency-key': 'k' })).status).toBe(422)
  // Somebody else's keys are their own.
  expect((await other.move('captures', { amount: 301 }, { 'idempotency-key': 'k' })).status).toBe(201)
})

test('twenty at once with one key have one effect and one answer', async () => {
  const { move, read } = await arrange()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => move('captures', { amount: 300 }, { 'idempotency-key': 'storm' })),
  )
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect((await read()).transaction).toMatchObject({ capturedAmount: 300 })
})

test('a key stays good for what was refused: nothing was made', async () => {
  const { move } = await arrange()
  expect((await move('captures', { amount: 1001 }, { 'idempotency-key': 'late' })).status).toBe(400)
  expect((await move('captures', { amount: 1000 }, { 'idempotency-key': 'late' })).status).toBe(201)
})

test('a plain capture asks the database once', async () => {
  const asked = vi.spyOn(pg.Client.prototype, 'query')
  const own = await oneProcess('each process remembers by itself who calls', () => startPayments())
  onTestFinished(async () => {
    asked.mockRestore()
    await own.stop()
  })
  const merchant = await plantMerchant(own)
  const id = await plantTransaction(own, { merchantId: merchant.id })
  const capture = () =>
    own.call(`POST /transactions/${id}/captures`, { headers: { authorization: merchant.authorization }, json: { amount: 10 } })
  await capture()
  // The loops of the service ask about what is pending now and then.
  const ours = () =>
    asked.mock.calls
      .map(([query]) => JSON.stringify(query))
      .filter((query) => /(transactions|members|apps)/.test(query) && !query.includes("= 'pending' and created <")).length
  const before = ours()
  for (let count = 0; count < 10; count++) expect((await capture()).status).toBe(201)
  expect(ours() - before).toBe(10)
})

test('what somebody else owns is not there', async () => {
  const { id } = await arrange()
  const stranger = await plantMerchant(service)
  const headers = { authorization: stranger.authorization }
  expect((await service.call(`GET /transactions/${id}`, { headers })).status).toBe(404)
  for (const what of ['captures', 'refunds', 'voids'])
    expect((await service.call(`POST /transactions/${id}/${what}`, { headers, json: {} })).status).toBe(404)
  expect((await service.call('GET /transactions/wrong_id', { headers })).status).toBe(404)
})

test('who lost access is not told what a key of theirs did', async () => {
  const { move, merchant, id } = await arrange()
  expect((await move('captures', { amount: 300 }, { 'idempotency-key': 'mine' })).status).toBe(201)
  await service.app.db`delete from pay.members where merchant_id = ${merchant.id}`
  expect((await move('captures', { amount: 300 }, { 'idempotency-key': 'mine' })).status).toBe(404)
  expect(
    (
      await service.call(`POST /merchants/${merchant.id}/transactions`, {
        headers: { authorization: merchant.authorization, 'idempotency-key': 'mine' },
        json: { transactionId: id, currency: 'EUR', amount: 5 },
      })
    ).status,
  ).toBe(404)
})

test('a plain capture and one in strokes come to the same, whatever the price', async () => {
  const price = fc.record({
    rate: fc.integer({ min: 0, max: 99_999_999 }).map((digits) => `0.${String(digits).padStart(8, '0')}`),
    flat: fc.integer({ min: 0, max: 500 }),
    amount: fc.integer({ min: 1, max: 100_000_000 }),
  })
  await fc.assert(
    fc.asyncProperty(price, async ({ rate, flat, amount }) => {
      const tell = async (simulation: object | undefined) => {
        const merchant = await plantMerchant(service, { rate, flat })
        const id = await plantTransaction(service, { merchantId: merchant.id, amount, ...(simulation ? { simulation } : {}) })
        const answer = await service.call(`POST /transactions/${id}/captures`, {
          headers: { authorization: merchant.authorization },
          json: { amount },
        })
        const { trail, ...rest } = answer.json<Told>().transaction
        const { lineId, ...entry } = trail[0] ?? {}
        const postings = await service.app.db`
          select number, debit, credit, currency, amount from pay.postings where line_id = ${String(lineId)} order by number`
        const line = await service.app.db`
          select kind, won, balance, fee, amount, currency, iban, description, test from pay.lines where id = ${String(lineId)}`
        return { rest: { ...rest, id: '', merchantId: '' }, entry, postings, line }
      }
      // Told how to behave, the simulator is asked for its opinion, and the capture is no plain one.
      expect(await tell(undefined)).toEqual(await tell({ card: { status: 'valid' } }))
    }),
    { numRuns: 25 },
  )
})

test('the line of a transaction that was imported carries the tag of the merchant, not the transaction’s', async () => {
  const { merchant, id, headers } = await arrange()
  const imported = `${id.slice(0, 8)}${merchant.id.slice(8, 12) === 'ffff' ? '0000' : 'ffff'}${id.slice(12)}`
  await service.app.db`update pay.transactions set id = ${imported} where id = ${id}`
  const answer = await service.call(`POST /transactions/${imported}/captures`, { headers, json: { amount: 5 } })
  expect(answer.status).toBe(201)
  expect(String(answer.json<Told>().transaction.trail[0]?.lineId).slice(8, 12)).toBe(merchant.id.slice(8, 12))
})
