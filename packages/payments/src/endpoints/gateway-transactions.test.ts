import { afterAll, beforeAll, expect, test } from 'vitest'
import { verify } from '../operations/verify.ts'
import { processingError } from '../rules/processing-errors.ts'
import { testCards } from '../rules/test-cards.ts'
import { plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
beforeAll(async () => {
  service = await startPayments()
  merchant = await plantMerchant(service)
})
afterAll(() => service.stop())

type Paid = { transaction: { id: string } }
type Refused = { code: number; response?: Paid }

const card = { number: '4100 0000 0000 0000', expiry: { month: 8, year: 2031 }, code: '123' }

function order(more: object = {}) {
  return { key: merchant.key, currency: 'EUR', amount: 1250, card, ...more }
}

function pay(json: unknown, headers: Record<string, string> = {}) {
  return service.call('POST /transactions', { json, headers })
}

async function told(id: string, { authorization } = merchant) {
  const answer = await service.call(`GET /transactions/${id}`, { headers: { authorization } })
  return answer.json<{ transaction: Record<string, unknown> }>().transaction
}

test('a card pays, and the merchant finds the transaction', async () => {
  const answer = await pay(order({ descriptor: 'Order 7', custom: { order: { number: 7 } } }))
  expect(answer.status).toBe(200)
  expect(answer.text).toMatch(/^\{"transaction":\{"id":"[0-9a-f]{24}"\}\}\n$/)
  expect(await told(answer.json<Paid>().transaction.id)).toMatchObject({
    merchantId: merchant.id,
    amount: 1250,
    pendingAmount: 1250,
    currency: 'EUR',
    descriptor: 'Order 7',
    custom: { order: { number: 7 } },
    card: { bin: '410000', last4: '0000', expiry: '2031-08-31T23:59:59.999Z', scheme: 'visa', code: { present: true } },
    tds: 'none',
    recurring: false,
    successful: true,
  })
})

test('a form pays like JSON, and what it pays can be captured', async () => {
  const form = {
    ...{ key: merchant.key, currency: 'EUR', amount: '1250', descriptor: '', 'custom[order]': '7' },
    ...{ 'card[number]': '5100000000000000', 'card[expiry][month]': '08', 'card[expiry][year]': '2031', 'card[code]': '123' },
  }
  const answer = await service.call('POST /transactions', { form })
  expect(answer.status).toBe(200)
  const { id } = answer.json<Paid>().transaction
  expect(await told(id)).toMatchObject({ card: { scheme: 'mastercard' }, custom: { order: '7' }, descriptor: 'Shop' })
  const headers = { authorization: merchant.authorization }
  expect((await service.call(`POST /transactions/${id}/captures`, { headers, json: { amount: 1250 } })).status).toBe(201)
})

const without = (field: string) => ({ ...card, [field]: undefined })

test.each([
  ['an unknown key', { key: '11111111-1111-4111-8111-111111111111' }, 26],
  ['no key', { key: undefined }, 26],
  ['an object for a key', { key: { $ne: '' } }, 26],
  ['a key that no key can be', { key: "' or true --" }, 26],
  ['no amount', { amount: undefined }, 15],
  ['an amount of nothing', { amount: 0 }, 14],
  ['a negative amount', { amount: -1250 }, 14],
  ['half a cent', { amount: 12.5 }, 14],
  ['an amount beyond counting', { amount: '99999999999999999999' }, 22],
  ['no currency', { currency: undefined }, 16],
  ['a currency that is none', { currency: 'XXX' }, 1],
  ['a currency that was given up', { currency: 'HRK' }, 1],
  ['no card', { card: undefined }, 17],
  ['no number', { card: without('number') }, 17],
  ['no expiry', { card: without('expiry') }, 18],
  ['no expiry year', { card: { ...card, expiry: { month: 8 } } }, 19],
  ['no security code', { card: without('code') }, 20],
  ['a number that is none', { card: { ...card, number: '4100-0000-0000-0000' } }, 3],
  ['a month that is none', { card: { ...card, expiry: { month: 13, year: 2031 } } }, 5],
  ['a code that is none', { card: { ...card, code: '12' } }, 4],
  ['a descriptor that banks cannot print', { descriptor: 'Smørrebrød' }, 13],
])('%s is a processing error of which no transaction is kept', async (_, more, code) => {
  const answer = await pay(order(more))
  expect([answer.status, answer.json()]).toEqual([400, processingError(code as 26)])
})

test.each(testCards.flatMap(({ number, fate }) => (typeof fate === 'number' ? [[number, fate] as const] : [])))(
  'card %s is declined with %i, and the failed transaction is told',
  async (number, code) => {
    const answer = await pay(order({ card: { ...card, number } }))
    const refused = answer.json<Refused>()
    expect([answer.status, refused]).toMatchObject([400, { ...processingError(code), response: { transaction: {} } }])
    expect(await told(refused.response?.transaction.id ?? '')).toMatchObject({ successful: false, error: { code } })
  },
)

test('a card that has expired is declined with 6', async () => {
  expect((await pay(order({ card: { ...card, expiry: { month: 12, year: 2029 } } }))).json()).toMatchObject({ code: 6 })
})

test.each([
  ['custom', { custom: 'text' }],
  ['custom', { custom: ['a list'] }],
  ['card', { card: '4100000000000000' }],
  ['card.expiry', { card: { ...card, expiry: '08/31' } }],
  ['tds', { tds: 'pares' }],
])('what is wrong with %s is told as a field, and nothing that was sent is said again', async (field, more) => {
  const answer = await pay(order(more))
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message: expect.any(String) }]])
  expect(answer.text).not.toMatch(/4100|08\/31/)
})

test.each([
  ['half of a body', '{"card":{"number":"4100000000000000","code":"123"', 'application/json'],
  ['a list', '["4100000000000000"]', 'application/json'],
  ['XML', '<card>4100000000000000</card>', 'text/xml'],
  ['broken letters', 'card[number]=%ff4100000000000000', 'application/x-www-form-urlencoded'],
])('%s is refused, and not quoted', async (_, raw, type) => {
  const answer = await service.call('POST /transactions', { raw, headers: { 'content-type': type } })
  expect(answer.status).toBe(400)
  expect(answer.text).not.toContain('4100')
})

test('a merchant that demands 3-D Secure is not paid this way', async () => {
  const strict = await plantMerchant(service)
  await service.app.db`update pay.merchants set tds_mode = 'full' where id = ${strict.id}`
  const refused = (await pay(order({ key: strict.key }))).json<Refused>()
  expect(refused).toEqual({ ...processingError(30), response: { transaction: { id: expect.stringMatching(/^[0-9a-f]{24}$/) } } })
  expect(await told(refused.response?.transaction.id ?? '', strict)).toMatchObject({ successful: false, error: { code: 30 } })
})

test('what 3-D Secure 1 would have brought back proves nothing any more', async () => {
  expect((await pay(order({ tds: { pares: 'eJzVWFmTo' } }))).json()).toMatchObject({ ...processingError(31), response: {} })
  expect((await pay(order({ tds: {} }))).status).toBe(200)
  expect((await pay(order({ tds: { pares: '' } }))).status).toBe(200)
})

test('a merchant that may not take cards is refused with 27, and so is a live one without an acquirer', async () => {
  const barred = await plantMerchant(service)
  await service.app.db`update pay.merchants set can_charge_card = false where id = ${barred.id}`
  expect((await pay(order({ key: barred.key }))).json()).toEqual(processingError(27))
  const live = await plantMerchant(service, { test: false })
  expect((await pay(order({ key: live.key, card: { ...card, number: '4111 1111 1111 1111' } }))).json()).toEqual(
    processingError(27),
  )
})

test('an Idempotency-Key makes it one payment, whatever is written otherwise alike', async () => {
  const headers = { 'idempotency-key': 'order 8'.replace(' ', '-') }
  const first = await pay(order({ amount: 888 }), headers)
  const again = await pay(order({ amount: '888', card: { ...card, number: '4100000000000000' } }), headers)
  expect([again.status, again.text]).toEqual([200, first.text])
  expect(await service.app.db`select from pay.transactions where amount = 888`).toHaveLength(1)
})

test.each([
  ['another amount', { amount: 889 }],
  ['another card', { card: { ...card, number: '5100000000000000' } }],
  ['another month', { card: { ...card, expiry: { month: 9, year: 2031 } } }],
  ['other custom data', { custom: { order: 9 } }],
])('an Idempotency-Key with %s is refused', async (name, more) => {
  const headers = { 'idempotency-key': name.replaceAll(' ', '-'), accept: 'application/json' }
  expect((await pay(order(), headers)).status).toBe(200)
  const answer = await pay(order(more), headers)
  expect([answer.status, answer.json()]).toMatchObject([422, { code: 'idempotency_mismatch' }])
})

test('what was declined under an Idempotency-Key stays declined', async () => {
  const headers = { 'idempotency-key': 'declined' }
  const declined = order({ card: { ...card, number: '4100000000000007' } })
  const first = await pay(declined, headers)
  const again = await pay(declined, headers)
  expect([first.status, again.text]).toEqual([400, first.text])
})

test('ten at once with one Idempotency-Key are one payment', async () => {
  const headers = { 'idempotency-key': 'ten-at-once' }
  const answers = await Promise.all(Array.from({ length: 10 }, () => pay(order({ amount: 1010 }), headers)))
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(await service.app.db`select from pay.transactions where amount = 1010`).toHaveLength(1)
})

test('merchants do not meet in their Idempotency-Keys', async () => {
  const other = await plantMerchant(service)
  const headers = { 'idempotency-key': 'order-1' }
  const [one, two] = [await pay(order(), headers), await pay(order({ key: other.key }), headers)]
  expect([one.status, two.status]).toEqual([200, 200])
  expect(one.text).not.toBe(two.text)
})

test('an Idempotency-Key that can be none is told by its name', async () => {
  const answer = await pay(order(), { 'idempotency-key': 'two words' })
  expect([answer.status, answer.json()]).toMatchObject([400, [{ field: 'Idempotency-Key' }]])
})

test('after all of this no promise is broken', async () => {
  expect((await verify(service.app.db, service.now())).breaches).toEqual([])
})

test('closed, there is nothing here, and nobody looks at what is sent', async () => {
  const closed = await startPayments({ PAY_GATEWAY_ENABLED: 'false' })
  try {
    for (const raw of [JSON.stringify(order()), '{'])
      expect((await closed.call('POST /transactions', { raw, headers: { 'content-type': 'application/json' } })).status).toBe(404)
    expect((await closed.call('POST /cards', { json: { key: merchant.key, ...card } })).status).toBe(404)
  } finally {
    await closed.stop()
  }
})
