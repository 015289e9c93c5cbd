import { tagOf } from '@tollgate/kit/id'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
let id: string
beforeAll(async () => {
  service = await startPayments()
  merchant = await plantMerchant(service)
  id = service.app.mintId(tagOf(merchant.id))
  await service.app.db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, iban)
    values (${merchant.id}, ${id}, ${service.now()}, true, 'payout', -995, 0, 995, 'EUR', 'DK5000400440116243')`
})
afterAll(() => service.stop())

function show(lineId: string, authorization: string) {
  return service.call(`GET /lines/${lineId}`, { headers: { authorization } })
}

test('a line is shown as it is, with nothing around it', async () => {
  const answer = await show(id, merchant.authorization)
  expect(answer.status).toBe(200)
  expect(answer.text).toBe(
    `{"id":"${id}","merchantId":"${merchant.id}","test":true,"created":"${service.now().toISOString()}","balance":-995,"fee":0,"amount":{"currency":"EUR","amount":995},"bank":{"iban":"DK5000400440116243"},"payout":true}\n`,
  )
})

test('of two lines with one id, everybody sees their own', async () => {
  const other = await plantMerchant(service)
  await service.app.db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency)
    values (${other.id}, ${id}, ${service.now()}, true, 'payout', -7, 0, 7, 'EUR')`
  expect((await show(id, merchant.authorization)).json()).toMatchObject({ merchantId: merchant.id, balance: -995 })
  expect((await show(id, other.authorization)).json()).toMatchObject({ merchantId: other.id, balance: -7 })
})

test('what is foreign, unknown or no id is not found', async () => {
  const stranger = await createApp(service.call)
  for (const [lineId, authorization] of [
    [id, stranger.authorization],
    ['f'.repeat(24), merchant.authorization],
    ['wrong_id', merchant.authorization],
    [id.toUpperCase(), merchant.authorization],
  ] as const) {
    const answer = await show(lineId, authorization)
    expect([answer.status, answer.text]).toEqual([404, ''])
  }
  expect((await service.call(`GET /lines/${id}`)).status).toBe(401)
})

test('who is no member any more sees it no more', async () => {
  const own = await plantMerchant(service)
  const lineId = service.app.mintId(tagOf(own.id))
  await service.app.db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency)
    values (${own.id}, ${lineId}, ${service.now()}, true, 'payout', -7, 0, 7, 'EUR')`
  expect((await show(lineId, own.authorization)).status).toBe(200)
  await service.app.db`delete from pay.members where merchant_id = ${own.id}`
  expect((await show(lineId, own.authorization)).status).toBe(404)
})
