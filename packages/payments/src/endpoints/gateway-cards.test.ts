import { afterAll, beforeAll, expect, test } from 'vitest'
import { verify } from '../operations/verify.ts'
import { processingError } from '../rules/processing-errors.ts'
import { plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
beforeAll(async () => {
  service = await startPayments()
  merchant = await plantMerchant(service)
})
afterAll(() => service.stop())

type Saved = { card: { id: string } }

const card = { number: '4100 0000 0000 0000', expiry: { month: 8, year: 2031 }, code: '123' }

function save(json: object = {}, headers: Record<string, string> = {}) {
  return service.call('POST /cards', { json: { key: merchant.key, ...card, ...json }, headers })
}

function ask(what: string, json?: object, { authorization } = merchant) {
  return service.call(what, { headers: { authorization }, ...(json ? { json } : {}) })
}

test('a card is saved, shown, and charged later without its number', async () => {
  const answer = await save()
  expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(/^\{"card":\{"id":"[0-9a-f]{24}"\}\}\n$/)])
  const { id } = answer.json<Saved>().card
  expect((await ask(`GET /cards/${id}`)).json()).toEqual({
    card: {
      ...{ id, merchantId: merchant.id, created: service.now().toISOString(), bin: '410000', last4: '0000', scheme: 'visa' },
      ...{ expiry: '2031-08-31T23:59:59.999Z', notes: null, deleted: null },
    },
  })
  const charged = await ask(`POST /merchants/${merchant.id}/transactions`, { cardId: id, currency: 'EUR', amount: 995 })
  expect(charged.status).toBe(201)
  const transaction = charged.json<{ transaction: { id: string } }>().transaction
  expect((await ask(`GET /transactions/${transaction.id}`)).json()).toMatchObject({
    transaction: { amount: 995, pendingAmount: 995, recurring: true, successful: true, card: { last4: '0000' } },
  })
})

test('the check reserves nothing, and is kept with what the payer agreed to', async () => {
  const { id } = (await save()).json<Saved>().card
  expect((await ask(`GET /transactions/${id}`)).json()).toMatchObject({
    transaction: { amount: 0, pendingAmount: 0, successful: true, recurring: false, currency: 'EUR' },
  })
  const kept = await service.app.db`
    select plan, unplanned_merchant, unplanned_customer from pay.agreements where transaction_id = ${id}`
  expect(kept).toEqual([{ plan: null, unplanned_merchant: true, unplanned_customer: false }])
})

test('a form will do', async () => {
  const form = { key: merchant.key, number: card.number, 'expiry[month]': '8', 'expiry[year]': '2031', code: '123' }
  expect((await service.call('POST /cards', { form })).status).toBe(200)
})

test.each([
  ['an unknown key', { key: 'nobody' }, 26],
  ['no number', { number: '' }, 17],
  ['no expiry', { expiry: {} }, 18],
  ['no expiry year', { expiry: { month: 8 } }, 19],
  ['no security code', { code: null }, 20],
  ['a number that is none', { number: '4100' }, 3],
  ['a year that is none', { expiry: { month: 8, year: 31 } }, 5],
  ['a code that is none', { code: 'abc' }, 4],
])('%s is a processing error', async (_, more, code) => {
  const answer = await save(more)
  expect([answer.status, answer.json()]).toEqual([400, processingError(code as 26)])
})

test('a card that is declined is not saved', async () => {
  const declined = await plantMerchant(service)
  const answer = await save({ key: declined.key, number: '4100 0000 0000 0010' })
  expect([answer.status, answer.json()]).toMatchObject([400, { ...processingError(10), response: { transaction: {} } }])
  expect(await service.app.db`select from pay.cards where merchant_id = ${declined.id}`).toEqual([])
  expect(await service.app.db`select from pay.agreements where merchant_id = ${declined.id}`).toEqual([])
})

test('a merchant that may not save cards is refused with 28, one that demands 3-D Secure with 30', async () => {
  const [barred, strict] = [await plantMerchant(service), await plantMerchant(service)]
  await service.app.db`update pay.merchants set can_save_card = false where id = ${barred.id}`
  await service.app.db`update pay.merchants set tds_mode = 'full' where id = ${strict.id}`
  expect((await save({ key: barred.key })).json()).toEqual(processingError(28))
  expect((await save({ key: strict.key })).json()).toMatchObject({ code: 30, response: { transaction: {} } })
  const live = await plantMerchant(service, { test: false })
  expect((await save({ key: live.key, number: '4111111111111111' })).json()).toEqual(processingError(27))
})

test('with an Idempotency-Key one card is saved, however often and however many at once ask', async () => {
  const own = await plantMerchant(service)
  const headers = { 'idempotency-key': 'save-once' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => save({ key: own.key }, headers)))
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(await service.app.db`select from pay.cards where merchant_id = ${own.id}`).toHaveLength(1)
  const other = await save({ key: own.key, expiry: { month: 9, year: 2031 } }, { ...headers, accept: 'application/json' })
  expect([other.status, other.json()]).toMatchObject([422, { code: 'idempotency_mismatch' }])
})

test('a crash between the check and the card is made good by whoever asks again with the same key', async () => {
  const own = await plantMerchant(service)
  const headers = { 'idempotency-key': 'crash' }
  const first = (await save({ key: own.key }, headers)).text
  await service.app.db`delete from pay.cards where merchant_id = ${own.id}`
  expect((await save({ key: own.key }, headers)).text).toBe(first)
  expect(await service.app.db`select from pay.cards where merchant_id = ${own.id}`).toHaveLength(1)
})

test('without keys for the vault no card is saved, and whoever runs this is told why', async () => {
  const bare = await startPayments({ PAY_VAULT_KEYS: '' })
  try {
    const { key, id } = await plantMerchant(bare)
    const answer = await bare.call('POST /cards', { json: { key, ...card }, headers: { accept: 'application/json' } })
    expect([answer.status, answer.json()]).toMatchObject([503, { code: 'vault_missing' }])
    expect(await bare.app.db`select from pay.transactions where merchant_id = ${id}`).toEqual([])
  } finally {
    await bare.stop()
  }
})

test('after all of this no promise is broken', async () => {
  expect((await verify(service.app.db, service.now())).breaches).toEqual([])
})
