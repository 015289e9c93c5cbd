import { tagOf } from '@tollgate/kit/id'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertDispute, setDisputeDecided } from '../store/disputes.ts'
import { createApp, plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

type Merchant = Awaited<ReturnType<typeof plantMerchant>>

async function plantDispute(merchant: Merchant, transactionId = service.app.mintId(tagOf(merchant.id))): Promise<string> {
  const { app, now } = service
  const id = app.mintId(tagOf(merchant.id))
  const facts = { amount: 300, held: 300, reasonCode: 4853, reasonTitle: 'Goods not received', acquirerReference: id }
  const due = new Date('2030-02-01T00:00:00Z')
  await app.db.begin((tx) => insertDispute(tx, { merchantId: merchant.id, id, transactionId, created: now(), due, ...facts }))
  return id
}

function get(path: string, { authorization }: { authorization: string }) {
  return service.call(`GET ${path}`, { headers: { authorization } })
}

async function listed(merchant: Merchant, query: string): Promise<string[]> {
  const answer = await get(`/disputes?filter[merchantId]=${merchant.id}&${query}`, merchant)
  expect(answer.status).toBe(200)
  return answer.json<{ id: string }[]>().map(({ id }) => id)
}

test('a dispute is shown and listed alike, decided or not', async () => {
  const merchant = await plantMerchant(service)
  const transactionId = service.app.mintId(tagOf(merchant.id))
  const id = await plantDispute(merchant, transactionId)
  const told = `{"id":"${id}","merchantId":"${merchant.id}","transactionId":"${transactionId}","created":"${service.now().toISOString()}","amount":300,"reason":{"code":4853,"title":"Goods not received"},"due":"2030-02-01T00:00:00.000Z"}`
  const look = async () => {
    const one = await get(`/disputes/${id}`, merchant)
    expect([one.status, one.text]).toEqual([200, `{"dispute":${told}}\n`])
    const list = await get(`/disputes?limit=10&filter%5BmerchantId%5D=${merchant.id}`, merchant)
    expect([list.status, list.text]).toEqual([200, `[\n${told}\n]\n`])
  }
  await look()
  const decision = { merchantId: merchant.id, id, won: true, decided: service.now() }
  await service.app.db.begin((tx) => setDisputeDecided(tx, decision))
  await look()
})

test('disputes come in pages, of one transaction where that is asked for', async () => {
  const [merchant, other] = [await plantMerchant(service), await plantMerchant(service)]
  await plantDispute(other)
  const transactionId = service.app.mintId(tagOf(merchant.id))
  const ids: string[] = []
  for (let count = 0; count < 6; count++) ids.push(await plantDispute(merchant, count % 2 ? transactionId : undefined))
  const some = (...places: number[]) => places.map((place) => ids[place])
  const before = (place: number) => `before=${ids[place]}`
  const after = (place: number) => `after=${ids[place]}`
  const ofOne = `filter[transactionId]=${transactionId}`
  expect(await listed(merchant, 'limit=3')).toEqual(some(5, 4, 3))
  expect(await listed(merchant, `limit=3&${before(3)}`)).toEqual(some(2, 1, 0))
  expect(await listed(merchant, `limit=3&${after(1)}`)).toEqual(some(2, 3, 4))
  expect(await listed(merchant, `limit=9&${after(1)}&${before(5)}`)).toEqual(some(4, 3, 2))
  expect(await listed(merchant, `limit=2&${ofOne}`)).toEqual(some(5, 3))
  expect(await listed(merchant, `limit=2&${ofOne}&${before(3)}`)).toEqual(some(1))
  expect(await listed(merchant, `limit=1&${ofOne}&${after(0)}`)).toEqual(some(1))
  expect(await listed(merchant, `limit=9&${ofOne}&${after(1)}&${before(5)}`)).toEqual(some(3))
  expect(await listed(merchant, `limit=9&filter[transactionId]=${'f'.repeat(24)}`)).toEqual([])
})

test.each([
  ['?limit=10', 'filter.merchantId', 'Required'],
  ['?limit=10&filter=', 'filter.merchantId', 'Required'],
  ['?limit=10&filter[merchantId]=', 'filter.merchantId', 'Required'],
  ['?limit=10&filter[transactionId]=ffffffffffffffffffffffff', 'filter.merchantId', 'Required'],
  ['?limit=10&filter[merchantId]=x', 'filter.merchantId', 'Must be 24 hex digits'],
  [
    '?limit=10&filter[merchantId]=ffffffffffffffffffffffff&filter[transactionId]=x',
    'filter.transactionId',
    'Must be 24 hex digits',
  ],
  ['?filter[merchantId]=ffffffffffffffffffffffff', 'limit', 'Required'],
])('%s is refused', async (query, field, message) => {
  const answer = await get(`/disputes${query}`, await createApp(service.call))
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
})

test('what is foreign, unknown or no id is not found', async () => {
  const merchant = await plantMerchant(service)
  const id = await plantDispute(merchant)
  const stranger = await createApp(service.call)
  for (const [path, who] of [
    [`/disputes/${id}`, stranger],
    [`/disputes/${'f'.repeat(24)}`, merchant],
    ['/disputes/wrong_id', merchant],
    [`/disputes?limit=10&filter[merchantId]=${merchant.id}`, stranger],
    [`/disputes?limit=10&filter[merchantId]=${'f'.repeat(24)}`, merchant],
  ] as const) {
    const answer = await get(path, who)
    expect([answer.status, answer.text]).toEqual([404, ''])
  }
  expect((await service.call('GET /disputes?limit=10')).status).toBe(401)
})
