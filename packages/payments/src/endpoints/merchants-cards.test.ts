import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

type Merchant = Awaited<ReturnType<typeof plantMerchant>>

function save(merchant: { id: string; authorization: string }, json: unknown) {
  return service.call(`POST /merchants/${merchant.id}/cards`, { headers: { authorization: merchant.authorization }, json })
}

function cardsOf({ id }: { id: string }) {
  return service.app.db`select id, transaction_id, bin, last4, scheme, notes, deleted from pay.cards where merchant_id = ${id}`
}

test('a card is saved from a transaction, and only its id is told', async () => {
  const merchant = await plantMerchant(service)
  const transactionId = await plantTransaction(service, { merchantId: merchant.id })
  const answer = await save(merchant, { transactionId, notes: 'Ann’s' })
  const { card } = answer.json<{ card: { id: string } }>()
  expect([answer.status, answer.text]).toEqual([201, `{"card":{"id":"${card.id}"}}\n`])
  expect(await cardsOf(merchant)).toEqual([
    { id: card.id, transaction_id: transactionId, bin: '410000', last4: '0000', scheme: 'visa', notes: 'Ann’s', deleted: null },
  ])
  expect(card.id.slice(8, 12)).toBe(merchant.id.slice(8, 12))
})

test('notes may be left out, in a form too', async () => {
  const merchant = await plantMerchant(service)
  const transactionId = await plantTransaction(service, { merchantId: merchant.id })
  const { authorization } = merchant
  const answer = await service.call(`POST /merchants/${merchant.id}/cards`, {
    headers: { authorization },
    form: { transactionId },
  })
  expect(answer.status).toBe(201)
  expect(await cardsOf(merchant)).toMatchObject([{ notes: null }])
})

test.each([
  ['no transaction', async () => ({}), 'transactionId', 'Required'],
  ['a transaction that is false', async () => ({ transactionId: false }), 'transactionId', 'Required'],
  ['no id', async () => ({ transactionId: 'x' }), 'transactionId', 'Must be 24 hex digits'],
  ['a number', async () => ({ transactionId: 7 }), 'transactionId', 'Must be text'],
  [
    'notes of 1001 characters',
    async (own: Merchant) => ({ transactionId: own.id, notes: 'x'.repeat(1001) }),
    'notes',
    /at most 1000/,
  ],
  [
    'an unknown transaction',
    async () => ({ transactionId: 'f'.repeat(24) }),
    'transactionId',
    /approved transaction of this merchant/,
  ],
  [
    'a transaction of another merchant of the same app',
    async (own: Merchant) => {
      const other = await plantMerchant(service)
      await service.app.db`insert into pay.members values (${other.id}, ${own.app.id}, 'app', ${service.now()})`
      return { transactionId: await plantTransaction(service, { merchantId: other.id }) }
    },
    'transactionId',
    /approved transaction of this merchant/,
  ],
  [
    'a declined transaction',
    async (own: Merchant) => {
      const transactionId = await plantTransaction(service, { merchantId: own.id })
      await service.app
        .db`update pay.transactions set state = 'declined', error_code = 7, capturable = 0 where id = ${transactionId}`
      return { transactionId }
    },
    'transactionId',
    /approved transaction of this merchant/,
  ],
  [
    'a transaction that nobody knows the outcome of',
    async (own: Merchant) => {
      const transactionId = await plantTransaction(service, { merchantId: own.id })
      await service.app.db`update pay.transactions set state = 'pending', capturable = 0 where id = ${transactionId}`
      return { transactionId }
    },
    'transactionId',
    /approved transaction of this merchant/,
  ],
])('%s is refused', async (_, body, field, message) => {
  const merchant = await plantMerchant(service)
  const answer = await save(merchant, await body(merchant))
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message: expect.stringMatching(message) }]])
  expect(await cardsOf(merchant)).toEqual([])
})

test('a merchant that may not save cards is told so by a processing error', async () => {
  const merchant = await plantMerchant(service)
  const transactionId = await plantTransaction(service, { merchantId: merchant.id })
  await service.app.db`update pay.merchants set can_save_card = false where id = ${merchant.id}`
  const answer = await save(merchant, { transactionId })
  const text = 'The merchant is not allowed to save cards'
  expect([answer.status, answer.json()]).toEqual([400, { code: 28, message: text, text, client: false, merchant: true }])
  expect(await cardsOf(merchant)).toEqual([])
})

test('that it is deprecated is noted once a merchant', async () => {
  const [one, other] = [await plantMerchant(service), await plantMerchant(service)]
  for (const merchant of [one, one, other])
    await save(merchant, { transactionId: await plantTransaction(service, { merchantId: merchant.id }) })
  const noted = service.lines.filter(({ level, message }) => level === 'warn' && message.includes('deprecated'))
  expect(noted.map(({ merchant }) => merchant).filter((id) => id === one.id || id === other.id)).toEqual([one.id, other.id])
})

test('a card is not saved for somebody else’s merchant', async () => {
  const merchant = await plantMerchant(service)
  const transactionId = await plantTransaction(service, { merchantId: merchant.id })
  const { authorization } = await createApp(service.call)
  for (const id of [merchant.id, 'f'.repeat(24), 'wrong_id'])
    for (const body of [{ transactionId }, {}]) expect((await save({ id, authorization }, body)).status).toBe(404)
  expect(await cardsOf(merchant)).toEqual([])
})
