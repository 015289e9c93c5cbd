import { tagOf } from '@tollgate/kit/id'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

type Merchant = Awaited<ReturnType<typeof plantMerchant>>

async function plantLine(merchant: Merchant, balance: number, created: string) {
  const { app } = service
  await app.db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency)
    values (${merchant.id}, ${app.mintId(tagOf(merchant.id))}, ${created}::timestamptz, true, 'payout', ${balance}, 0, 1, 'EUR')`
}

function ask(merchant: { id: string; authorization: string }, at?: string) {
  const query = at === undefined ? '' : `?at=${encodeURIComponent(at)}`
  return service.call(`GET /merchants/${merchant.id}/balance${query}`, { headers: { authorization: merchant.authorization } })
}

test('a merchant without lines has a balance of zero', async () => {
  const answer = await ask(await plantMerchant(service, { currency: 'DKK' }))
  expect(answer.status).toBe(200)
  expect(answer.text).toBe(`{"balance":{"currency":"DKK","amount":0,"at":"${service.now().toISOString()}"}}\n`)
})

test('a balance is the sum of the lines until a moment, the moment included', async () => {
  const [merchant, other] = [await plantMerchant(service), await plantMerchant(service)]
  await plantLine(other, 1_000_000, '2029-12-01T12:00:00Z')
  await plantLine(merchant, 700, '2029-12-01T12:00:00Z')
  await plantLine(merchant, -900, '2029-12-02T12:00:00Z')
  await plantLine(merchant, 50, service.now().toISOString())
  const at = async (moment?: string) => (await ask(merchant, moment)).json<{ balance: { amount: number } }>().balance.amount
  expect(await at()).toBe(-150)
  expect(await at('2029-12-01T11:59:59.999Z')).toBe(0)
  expect(await at('2029-12-01T12:00:00Z')).toBe(700)
  expect(await at('2029-12-01T13:00:00+01:00')).toBe(700)
  expect(await at('2029-12-02T11:59:59.999Z')).toBe(700)
  expect(await at('2029-12-02T12:00:00Z')).toBe(-200)
  expect(await at(service.now().toISOString())).toBe(-150)
  expect(await at('1000-01-01T00:00:00Z')).toBe(0)
  expect((await ask(merchant, '2029-12-01T13:00:00+01:00')).json()).toMatchObject({
    balance: { at: '2029-12-01T12:00:00.000Z' },
  })
})

test('a line that is dated ahead counts when its time has come', async () => {
  const merchant = await plantMerchant(service)
  await plantLine(merchant, 700, new Date(service.now().getTime() + 1).toISOString())
  expect((await ask(merchant)).json()).toMatchObject({ balance: { amount: 0 } })
  service.now.advance(0.001)
  expect((await ask(merchant)).json()).toMatchObject({ balance: { amount: 700 } })
})

test.each([
  ['yesterday', 'Must be a valid date-time'],
  ['2029-02-31T00:00:00Z', 'Must be a valid date-time'],
  ['2029-02-01', 'Must be a valid date-time'],
  ['0000-01-01T00:00:00Z', 'Must be a valid date-time'],
  ['9999-12-31T23:59:59Z', 'Must not be in the future'],
])('%s is refused', async (at, message) => {
  const answer = await ask(await plantMerchant(service), at)
  expect([answer.status, answer.json()]).toEqual([400, [{ field: 'at', message }]])
})

test('a millisecond ahead is in the future', async () => {
  const answer = await ask(await plantMerchant(service), new Date(service.now().getTime() + 1).toISOString())
  expect([answer.status, answer.json()]).toEqual([400, [{ field: 'at', message: 'Must not be in the future' }]])
})

test('the balance of somebody else’s merchant is not told', async () => {
  const merchant = await plantMerchant(service)
  const { authorization } = await createApp(service.call)
  for (const id of [merchant.id, 'f'.repeat(24), 'wrong_id']) expect((await ask({ id, authorization }, 'x')).status).toBe(404)
})
