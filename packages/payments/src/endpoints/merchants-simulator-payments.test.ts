import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFinisher } from '../operations/finish-pending.ts'
import { verify } from '../operations/verify.ts'
import { hashKey } from '../rules/keys.ts'
import { createApp, plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
beforeAll(async () => {
  service = await startPayments({ PAY_EXCHANGE_MAX_AGE: '0' })
  merchant = await plantMerchant(service)
})
afterAll(() => service.stop())

type Made = { transaction: { id: string } }
type Told = { transaction: Record<string, unknown> }

function pay(json: unknown, given: { headers?: Record<string, string>; merchantId?: string } = {}) {
  const headers = { authorization: merchant.authorization, accept: 'application/json', ...given.headers }
  return service.call(`POST /merchants/${given.merchantId ?? merchant.id}/simulator/payments`, { headers, json })
}

async function read(id: string) {
  const { authorization } = merchant
  return (await service.call(`GET /transactions/${id}`, { headers: { authorization } })).json<Told>().transaction
}

const plain = { amount: 1000, currency: 'EUR' }

test('a payment needs no more than an amount and a currency', async () => {
  const answer = await pay(plain)
  expect(answer.status).toBe(201)
  expect(answer.text).toMatch(/^\{"transaction":\{"id":"[0-9a-f]{24}"\}\}\n$/)
  expect(await read(answer.json<Made>().transaction.id)).toMatchObject({
    test: true,
    merchantId: merchant.id,
    amount: 1000,
    pendingAmount: 1000,
    currency: 'EUR',
    card: { bin: '410000', last4: '0000', expiry: '2033-12-31T23:59:59.999Z', code: { present: false }, scheme: 'visa' },
    tds: 'none',
    custom: null,
    recurring: false,
    successful: true,
    error: false,
    descriptor: 'Shop',
    trail: [],
  })
})

test('everything else can be told, and is kept with the transaction', async () => {
  const answer = await pay({
    ...plain,
    card: { number: '5100 0000 0000 0000', expiry: { month: 2, year: 2032 }, code: '123' },
    descriptor: 'Order 7',
    custom: { order: { number: 7 } },
    tds: 'full',
  })
  const { id } = answer.json<Made>().transaction
  expect(await read(id)).toMatchObject({
    card: { bin: '510000', last4: '0000', expiry: '2032-02-29T23:59:59.999Z', code: { present: true }, scheme: 'mastercard' },
    descriptor: 'Order 7',
    custom: { order: { number: 7 } },
    tds: 'full',
  })
})

test('a form will do, with its brackets', async () => {
  const headers = { authorization: merchant.authorization }
  const form = { amount: '40413', currency: 'EUR', 'card[number]': '4200000000000000', 'test[card][code]': 'valid' }
  const answer = await service.call(`POST /merchants/${merchant.id}/simulator/payments`, { headers, form })
  expect([answer.status, answer.json()]).toMatchObject([400, { code: 7 }])
})

test.each([
  ['a card that declines', { card: { number: '4100 0000 0000 0009' } }, 9, 'Card restricted'],
  ['an amount that decides', { amount: 40410, card: { number: '4200 0000 0000 0000' } }, 8, 'Declined by cardholder bank'],
  ['an expiry in the past', { card: { expiry: { month: 12, year: 2029 } } }, 6, 'Card expired'],
  [
    'a simulated limit',
    { test: { card: { limit: { currency: 'EUR', exponent: 0, value: 9 } } } },
    25,
    'Card amount limit exceeded',
  ],
  ['a simulated balance', { test: { card: { balance: { currency: 'EUR', exponent: 0, value: 9 } } } }, 7, 'Insufficient funds'],
  ['3-D Secure that fails', { test: { tds: { status: 'rejected' } } }, 31, '3-D Secure failed'],
  ['a bank that says no', { test: { acquirer: { authorize: 'declined' } } }, 8, 'Declined by cardholder bank'],
])('%s is a processing error, and the failed transaction is kept', async (_, change, code, message) => {
  const answer = await pay({ ...plain, ...change })
  expect(answer.status).toBe(400)
  const error = answer.json<{ response: Made }>()
  expect(error).toMatchObject({ code, message, text: message })
  expect(await read(error.response.transaction.id)).toMatchObject({
    successful: false,
    error: { code, message },
    pendingAmount: 0,
  })
})

test.each([
  ['authenticated', 'full'],
  ['attempted', 'attempt'],
])('3-D Secure that is %s makes it %s', async (status, tds) => {
  const { id } = (await pay({ ...plain, test: { tds: { status } } })).json<Made>().transaction
  expect(await read(id)).toMatchObject({ tds })
})

test.each(['4111111111111111', '4242 4242 4242 4242', '4100 0000 0000 0001', 'card', '4200001000080000'])(
  '%s is refused and leaves no trace, for it is no test card',
  async (number) => {
    const before = service.lines.length
    const [transactions] = await service.app.db`select count(*) from pay.transactions`
    const headers = { 'idempotency-key': 'no-test-card' }
    const answer = await pay({ ...plain, card: { number } }, { headers })
    expect([answer.status, answer.json()]).toEqual([
      400,
      [
        {
          field: 'card.number',
          message: 'Not a test card, and no others may be sent here; 4100 0000 0000 0000 is one that always succeeds',
        },
      ],
    ])
    expect(JSON.stringify(service.lines.slice(before))).not.toContain(number)
    expect(await service.app.db`select count(*) from pay.transactions`).toEqual([transactions])
    expect(
      await service.app.db`select from pay.idempotency where key_hash = ${hashKey(headers['idempotency-key']).toString('hex')}`,
    ).toEqual([])
  },
)

test.each([
  ['no amount', { currency: 'EUR' }, 'amount', 'Required'],
  ['an amount of zero', { ...plain, amount: 0 }, 'amount', 'Must be at least 1'],
  ['a fraction', { ...plain, amount: 0.5 }, 'amount', 'Must be a whole number'],
  ['too much', { ...plain, amount: 2 ** 53 }, 'amount', 'Must be at most 9007199254740991'],
  ['no currency', { amount: 1 }, 'currency', 'Required'],
  ['no such currency', { ...plain, currency: 'XXX' }, 'currency', 'Must be the code of a currency that payments can be made in'],
  ['a number that is one', { ...plain, card: { number: 4100000000000000 } }, 'card.number', 'Must be text'],
  ['a month too many', { ...plain, card: { expiry: { month: 13, year: 2033 } } }, 'card.expiry.month', 'Must be at most 12'],
  ['a year of two digits', { ...plain, card: { expiry: { month: 1, year: 33 } } }, 'card.expiry.year', 'Must be at least 2000'],
  ['half an expiry', { ...plain, card: { expiry: { month: 1 } } }, 'card.expiry.year', 'Required'],
  ['a code of four digits', { ...plain, card: { code: '1234' } }, 'card.code', 'Must be a valid security code of 3 digits'],
  [
    'a simulation that is unknown',
    { ...plain, test: { card: { status: 'stolen' } } },
    'test.card.status',
    'Must be one of valid, invalid, expired, disabled, lost',
  ],
  ['3-D Secure of another kind', { ...plain, tds: 'half' }, 'tds', 'Must be one of none, attempt, full'],
])('%s is refused, and the field is named', async (_, json, field, message) => {
  const answer = await pay(json)
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
})

test('a live merchant cannot be paid like this, and is told so whatever is sent', async () => {
  const live = await plantMerchant(service, { test: false })
  const answer = await pay({}, { merchantId: live.id, headers: { authorization: live.authorization } })
  expect([answer.status, answer.json()]).toEqual([
    400,
    [{ field: 'merchant_id', message: 'This merchant is live: the simulator is for test merchants alone' }],
  ])
})

test.each([
  ['somebody else’s', () => merchant.id],
  ['an unknown', () => 'f'.repeat(24)],
  ['no', () => 'wrong'],
])('%s merchant is not found', async (_, id) => {
  const { authorization } = await createApp(service.call)
  expect((await pay({}, { merchantId: id(), headers: { authorization } })).status).toBe(404)
})

test('with one key it is paid once, however the card declined', async () => {
  const headers = { 'idempotency-key': 'paid-once' }
  const [first, again] = [await pay(plain, { headers }), await pay(plain, { headers })]
  expect([again.status, again.text]).toEqual([201, first.text])
  expect((await pay({ ...plain, amount: 1 }, { headers })).status).toBe(422)
  const declined = { ...plain, card: { number: '4100 0000 0000 0007' } }
  const key = { headers: { 'idempotency-key': 'declined-once' } }
  expect((await pay(declined, key)).text).toBe((await pay(declined, key)).text)
})

test.each(['lost', 'unanswered', 'late'])(
  'a payment that is %s is unknown at first, and found out by asking again',
  async (mishap) => {
    const answer = await pay({ ...plain, test: { acquirer: { authorize: mishap } } })
    expect(answer.status).toBe(504)
    const { transactionId } = answer.json<{ transactionId: string }>()
    const state = () => service.app.db`select state from pay.transactions where id = ${transactionId}`
    expect(await state()).toEqual([{ state: 'pending' }])
    service.now.advance(10)
    await createFinisher(service.app, { after: 5 })()
    expect(await state()).toEqual([{ state: 'approved' }])
    expect(await read(transactionId)).toMatchObject({ successful: true, pendingAmount: 1000 })
  },
)

test.each(['lost', 'unanswered', 'late'])('a capture that is %s is done once, after asking again', async (mishap) => {
  const { id } = (await pay({ ...plain, test: { acquirer: { capture: mishap } } })).json<Made>().transaction
  const headers = { authorization: merchant.authorization }
  const capture = () => service.call(`POST /transactions/${id}/captures`, { headers, json: { amount: 600 } })
  expect((await capture()).status).toBe(504)
  // What is under way cannot be taken another time.
  expect((await capture()).status).toBe(400)
  service.now.advance(10)
  await createFinisher(service.app, { after: 5 })()
  expect(await read(id)).toMatchObject({ capturedAmount: 600, pendingAmount: 400, trail: [{ capture: true, amount: 600 }] })
})

test('a balance is used up by charging again', async () => {
  const test = { card: { balance: { currency: 'EUR', exponent: 2, value: 1500 } } }
  const { id } = (await pay({ ...plain, test })).json<Made>().transaction
  const again = (amount: number) =>
    service.call(`POST /merchants/${merchant.id}/transactions`, {
      headers: { authorization: merchant.authorization },
      json: { transactionId: id, amount, currency: 'EUR' },
    })
  expect((await again(501)).json()).toMatchObject({ code: 7 })
  expect((await again(500)).status).toBe(201)
  expect((await again(1)).json()).toMatchObject({ code: 7 })
})

test('after all this the books are right, and the simulator has the same in its own', async () => {
  expect(await verify(service.app.db, service.now())).toMatchObject({ breaches: [] })
})
