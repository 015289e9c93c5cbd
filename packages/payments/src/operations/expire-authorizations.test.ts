import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'
import { expireAuthorizations } from './expire-authorizations.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

const day = 86_400

test('what was not captured in time is voided, once, and what was captured stays', async () => {
  const merchant = await plantMerchant(service)
  const headers = { authorization: merchant.authorization }
  const read = async (id: string) =>
    (await service.call(`GET /transactions/${id}`, { headers })).json<{ transaction: { trail: unknown[] } }>().transaction
  const partly = await plantTransaction(service, { merchantId: merchant.id, amount: 1000 })
  await service.call(`POST /transactions/${partly}/captures`, { headers, json: { amount: 300 } })
  const wholly = await plantTransaction(service, { merchantId: merchant.id, amount: 500 })
  await service.call(`POST /transactions/${wholly}/captures`, { headers, json: { amount: 500 } })
  service.now.advance(10 * day)
  const young = await plantTransaction(service, { merchantId: merchant.id, amount: 700 })

  service.now.advance(19 * day)
  expect(await expireAuthorizations(service.app, 30)).toBe(0)
  service.now.advance(day)
  const runs = await Promise.all([expireAuthorizations(service.app, 30), expireAuthorizations(service.app, 30)])
  expect(runs[0] + runs[1]).toBe(1)
  expect(await expireAuthorizations(service.app, 30)).toBe(0)
  expect(await read(partly)).toMatchObject({ capturedAmount: 300, voidedAmount: 700, pendingAmount: 0 })
  expect((await read(partly)).trail).toHaveLength(2)
  expect(await read(wholly)).toMatchObject({ capturedAmount: 500, voidedAmount: 0 })
  expect(await read(young)).toMatchObject({ pendingAmount: 700 })

  service.now.advance(10 * day)
  expect(await expireAuthorizations(service.app, 30)).toBe(1)
  expect(await read(young)).toMatchObject({ voidedAmount: 700, pendingAmount: 0 })
})

test('a merchant that may not void has its authorizations expire all the same', async () => {
  const merchant = await plantMerchant(service)
  await service.app.db`update pay.merchants set can_void = false where id = ${merchant.id}`
  await plantTransaction(service, { merchantId: merchant.id })
  service.now.advance(31 * day)
  expect(await expireAuthorizations(service.app, 30)).toBe(1)
})
