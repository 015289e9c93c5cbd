import { createInTurn } from '@tollgate/kit/in-turn'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantMerchant, plantTransaction, startPayments } from '../testing.ts'
import { type DisputeNotice, recordDispute } from './record-dispute.ts'
import { recordFraud } from './record-fraud.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

async function arrange(given: Parameters<typeof plantMerchant>[1] = {}) {
  const merchant = await plantMerchant(service, given)
  const headers = { authorization: merchant.authorization }
  const capture = async () => {
    const id = await plantTransaction(service, { merchantId: merchant.id })
    expect((await service.call(`POST /transactions/${id}/captures`, { headers, json: { amount: 1000 } })).status).toBe(201)
    return id
  }
  const transactionId = await capture()
  const notice: DisputeNotice = {
    merchantId: merchant.id,
    transactionId,
    amount: 400,
    reason: { code: 4853, title: 'Cardholder Dispute' },
    due: new Date('2030-02-01T00:00:00Z'),
    acquirerReference: 'case 7',
  }
  const balance = async () =>
    (await service.call(`GET /merchants/${merchant.id}/balance`, { headers })).json<{ balance: { amount: number } }>().balance
      .amount
  return { merchant, transactionId, notice, capture, balance }
}

/** Another process of ours on the same database. */
const elsewhere = () => ({ ...service.app, inTurn: createInTurn() })

test('twenty notifications at once, in any number of processes, are one dispute', async () => {
  const { notice, balance } = await arrange()
  const told = await Promise.all(
    Array.from({ length: 20 }, (_, index) => recordDispute(index % 2 ? service.app : elsewhere(), notice)),
  )
  expect(new Set(told.map(({ id }) => id)).size).toBe(1)
  expect(await balance()).toBe(950 - 1900)
})

test('a notification that comes again is the dispute as it is by now, whatever it says of due date and reason', async () => {
  const { notice, balance } = await arrange()
  const first = await recordDispute(service.app, notice)
  service.now.advance(60)
  const again = await recordDispute(service.app, { ...notice, due: service.now(), reason: { code: 131, title: 'Other' } })
  expect(again).toEqual(first)
  expect(await balance()).toBe(-950)
})

test('a notification that contradicts the one before is refused', async () => {
  const { notice, capture, balance } = await arrange()
  await recordDispute(service.app, notice)
  await expect(recordDispute(service.app, { ...notice, amount: 401 })).rejects.toMatchObject({
    code: 'validation_failed',
    problems: [{ path: 'amount', message: 'This dispute was about 400 when it was told of first' }],
  })
  const before = await balance()
  const other = { ...notice, transactionId: await capture() }
  await expect(recordDispute(service.app, other)).rejects.toMatchObject({ problems: [{ path: 'acquirerReference' }] })
  expect(await balance()).toBe(before + 950)
})

test('of two transactions at once under one reference, one is disputed', async () => {
  const { notice, capture, merchant } = await arrange()
  const others = [await capture(), await capture(), await capture()]
  const told = await Promise.allSettled(
    [notice.transactionId, ...others].map((transactionId) => recordDispute(elsewhere(), { ...notice, transactionId })),
  )
  expect(told.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const each of told)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ problems: [{ path: 'acquirerReference' }] })
  const rows = await service.app.db`
    select from pay.trail where merchant_id = ${merchant.id} and kind = 'dispute'`
  expect(rows).toHaveLength(1)
})

test('one reference may be used for every merchant', async () => {
  const [one, other] = [await arrange(), await arrange()]
  const [first, second] = [await recordDispute(service.app, one.notice), await recordDispute(service.app, other.notice)]
  expect(first.id).not.toBe(second.id)
})

test('a dispute that was raised before we heard of it is dated so, and its money when we hear of it', async () => {
  const { notice, merchant } = await arrange()
  const created = new Date('2030-01-01T00:00:00Z')
  expect(await recordDispute(service.app, { ...notice, created })).toMatchObject({ created })
  expect(await service.app.db`select created from pay.lines where merchant_id = ${merchant.id} and kind = 'dispute'`).toEqual([
    { created: service.now() },
  ])
  const tomorrow = new Date(service.now().getTime() + 86_400_000)
  await expect(recordDispute(service.app, { ...notice, created: tomorrow, acquirerReference: 'case 8' })).rejects.toMatchObject({
    problems: [{ path: 'created', message: 'Must not be in the future' }],
  })
})

test('what was not captured cannot be disputed', async () => {
  const { merchant, notice } = await arrange()
  const transactionId = await plantTransaction(service, { merchantId: merchant.id })
  await expect(recordDispute(service.app, { ...notice, transactionId })).rejects.toMatchObject({
    problems: [{ path: 'amount', message: 'Can dispute at most EUR 0' }],
  })
})

test('without any rate for its fee, a dispute is not recorded by half', async () => {
  const { notice, merchant } = await arrange()
  await service.app.db`update pay.prices set dispute_currency = 'XAU' where merchant_id = ${merchant.id}`
  await expect(recordDispute(service.app, notice)).rejects.toMatchObject({ code: 'exchange_unavailable' })
  expect(await service.app.db`select from pay.disputes where merchant_id = ${merchant.id}`).toHaveLength(0)
  expect(await service.app.db`select disputed, refundable from pay.transactions where id = ${notice.transactionId}`).toEqual([
    { disputed: 0, refundable: 1000 },
  ])
})

test('twenty fraud notifications at once are one alert, and one about something else is refused', async () => {
  const { merchant, transactionId, capture } = await arrange()
  const notice = { merchantId: merchant.id, transactionId, reason: 6, acquirerReference: 'alert 7' }
  const told = await Promise.all(Array.from({ length: 20 }, () => recordFraud(service.app, notice)))
  expect(new Set(told.map(({ id }) => id)).size).toBe(1)
  expect(told[0]).toMatchObject({ reason: 6, reported: null, created: service.now() })
  const other = { ...notice, transactionId: await capture() }
  await expect(recordFraud(service.app, other)).rejects.toMatchObject({ problems: [{ path: 'acquirerReference' }] })
  await expect(
    recordFraud(service.app, { ...notice, transactionId: 'f'.repeat(24), acquirerReference: 'alert 8' }),
  ).rejects.toMatchObject({ problems: [{ path: 'transactionId' }] })
})
