import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, plantMerchant, plantTransaction, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

async function arrange(test = true) {
  const merchant = await plantMerchant(service, { test })
  const transactionId = await plantTransaction(service, { merchantId: merchant.id, test })
  const headers = { authorization: merchant.authorization }
  return {
    merchant,
    transactionId,
    raise: (json: Record<string, unknown> = {}, more: Record<string, string> = {}) =>
      service.call(`POST /merchants/${merchant.id}/simulator/frauds`, {
        headers: { ...headers, ...more },
        json: { transactionId, ...json },
      }),
    list: async () =>
      (await service.call(`GET /frauds?limit=100&filter[merchantId]=${merchant.id}`, { headers })).json<
        Record<string, unknown>[]
      >(),
  }
}

test('a fraud alert is answered with and listed alike, and moves no money', async () => {
  const { merchant, transactionId, raise, list } = await arrange()
  const answer = await raise({ reason: 0, reported: '2030-01-01T00:00:00Z' })
  const told = {
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    merchantId: merchant.id,
    transactionId,
    created: service.now().toISOString(),
    reported: '2030-01-01T00:00:00.000Z',
    reason: 0,
  }
  expect([answer.status, answer.json()]).toEqual([201, { fraud: told }])
  expect(await list()).toEqual([answer.json<{ fraud: unknown }>().fraud])
  expect(await service.app.db`select from pay.lines where merchant_id = ${merchant.id}`).toHaveLength(0)
})

test('what is not known of a fraud is left out', async () => {
  const { raise } = await arrange()
  const { fraud } = (await raise()).json<{ fraud: object }>()
  expect(Object.keys(fraud)).toEqual(['id', 'merchantId', 'transactionId', 'created'])
})

test('with a key it is one alert, however often it is sent', async () => {
  const { raise, list } = await arrange()
  const key = { 'idempotency-key': randomUUID() }
  const first = await raise({ reason: 3 }, key)
  const again = await raise({ reason: 3 }, key)
  expect([again.status, again.text]).toEqual([201, first.text])
  expect(await list()).toHaveLength(1)
})

test.each([
  ['no transaction', { transactionId: '' }, 'transactionId', 'Required'],
  ['an unknown transaction', { transactionId: 'f'.repeat(24) }, 'transactionId', 'There is no transaction with this id'],
  ['a reason of nine', { reason: 9 }, 'reason', 'Must be at most 8'],
  ['a negative reason', { reason: -1 }, 'reason', 'Must be at least 0'],
  ['a reason in words', { reason: 'stolen' }, 'reason', 'Must be a whole number'],
  ['a report of tomorrow', { reported: '2031-01-01T00:00:00Z' }, 'reported', 'Must not be in the future'],
  ['a report of no day', { reported: 'yesterday' }, 'reported', 'Must be a valid date-time'],
])('a fraud alert with %s is refused, and the field is named', async (_, json, field, message) => {
  const { raise, list } = await arrange()
  const answer = await raise(json)
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
  expect(await list()).toEqual([])
})

test('live merchants, strangers and transactions of others are refused', async () => {
  const [own, other, live] = [await arrange(), await arrange(), await arrange(false)]
  expect((await own.raise({ transactionId: other.transactionId })).json()).toEqual([
    { field: 'transactionId', message: 'There is no transaction with this id' },
  ])
  const refused = await live.raise()
  expect([refused.status, refused.json()]).toEqual([
    400,
    [{ field: 'merchant_id', message: 'This merchant is live: the simulator is for test merchants alone' }],
  ])
  const { authorization } = await createApp(service.call)
  expect((await own.raise({}, { authorization })).status).toBe(404)
  expect([await own.list(), await other.list(), await live.list()]).toEqual([[], [], []])
})
