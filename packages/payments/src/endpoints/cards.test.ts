import { tagOf } from '@tollgate/kit/id'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
beforeAll(async () => {
  service = await startPayments()
  merchant = await plantMerchant(service)
})
afterAll(() => service.stop())

function show(cardId: string, authorization: string) {
  return service.call(`GET /cards/${cardId}`, { headers: { authorization } })
}

async function saveCard(): Promise<string> {
  const transactionId = await plantTransaction(service, { merchantId: merchant.id })
  const { authorization } = merchant
  const answer = await service.call(`POST /merchants/${merchant.id}/cards`, {
    headers: { authorization },
    json: { transactionId },
  })
  return answer.json<{ card: { id: string } }>().card.id
}

test('a saved card is shown with its absent notes and deletion as null', async () => {
  const id = await saveCard()
  const answer = await show(id, merchant.authorization)
  expect(answer.status).toBe(200)
  expect(answer.text).toBe(
    `{"card":{"id":"${id}","merchantId":"${merchant.id}","created":"${service.now().toISOString()}","bin":"410000","last4":"0000","expiry":"2066-08-31T23:59:59.999Z","scheme":"visa","notes":null,"deleted":null}}\n`,
  )
})

test('notes and the date of deletion are shown', async () => {
  const id = service.app.mintId(tagOf(merchant.id))
  await service.app.db`
    insert into pay.cards (merchant_id, id, created, transaction_id, bin, last4, expiry, scheme, notes, deleted)
    values (${merchant.id}, ${id}, ${service.now()}, ${id}, '510000', '4444', ${service.now()}, 'mastercard', 'Ann’s', ${service.now()})`
  expect((await show(id, merchant.authorization)).json()).toMatchObject({
    card: { notes: 'Ann’s', deleted: service.now().toISOString(), scheme: 'mastercard' },
  })
})

test('what is foreign, unknown or no id is not found', async () => {
  const id = await saveCard()
  const stranger = await createApp(service.call)
  for (const [cardId, authorization] of [
    [id, stranger.authorization],
    ['f'.repeat(24), merchant.authorization],
    ['wrong_id', merchant.authorization],
  ] as const) {
    const answer = await show(cardId, authorization)
    expect([answer.status, answer.text]).toEqual([404, ''])
  }
})
