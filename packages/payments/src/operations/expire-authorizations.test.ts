import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'
import { expireAuthorizations } from './expire-authorizations.ts'
import { settleMovement } from './move-money.ts'

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

test('what is under way when its time comes is not forgotten: it is voided when it came back', async () => {
  const own = await startPayments()
  onTestFinished(() => own.stop())
  const merchant = await plantMerchant(own)
  const simulation = { acquirer: { capture: 'unanswered' } } as const
  const id = await plantTransaction(own, { merchantId: merchant.id, amount: 1000, simulation })
  const headers = { authorization: merchant.authorization }
  await own.call(`POST /transactions/${id}/captures`, { headers, json: { amount: 400 } })
  own.now.advance(31 * day)
  const before = await plantTransaction(own, { merchantId: merchant.id, amount: 700 })
  expect(await expireAuthorizations(own.app, 30)).toBe(0)
  const [entry] = await own.app.db<{ id: string }>`select id from pay.trail where transaction_id = ${id}`
  await settleMovement(
    own.app,
    { merchantId: merchant.id, transactionId: id, id: entry?.id ?? '' },
    { kind: 'declined', code: 12 },
  )
  expect(await expireAuthorizations(own.app, 30)).toBe(1)
  const { transaction } = (await own.call(`GET /transactions/${id}`, { headers })).json<{ transaction: object }>()
  expect(transaction).toMatchObject({ voidedAmount: 1000, pendingAmount: 0 })
  expect((await own.call(`GET /transactions/${before}`, { headers })).json()).toMatchObject({
    transaction: { pendingAmount: 700 },
  })
})
