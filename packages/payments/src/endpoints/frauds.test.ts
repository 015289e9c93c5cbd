import { tagOf } from '@tollgate/kit/id'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FraudRow, insertFraud } from '../store/frauds.ts'
import { createApp, plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

type Merchant = Awaited<ReturnType<typeof plantMerchant>>

async function plantFraud(merchant: Merchant, given: Partial<FraudRow> = {}): Promise<FraudRow> {
  const { app, now } = service
  const mint = () => app.mintId(tagOf(merchant.id))
  const fraud = {
    merchantId: merchant.id,
    id: mint(),
    transactionId: mint(),
    created: now(),
    reported: null,
    reason: null,
    ...given,
  }
  expect(await insertFraud(app.db, { ...fraud, acquirerReference: fraud.id })).toBe(true)
  return fraud
}

function get(path: string, { authorization }: { authorization: string }) {
  return service.call(`GET ${path}`, { headers: { authorization } })
}

test('a fraud alert is shown and listed alike, without what is not known', async () => {
  const merchant = await plantMerchant(service)
  const bare = await plantFraud(merchant)
  const whole = await plantFraud(merchant, { reported: new Date('2030-01-01T00:00:00Z'), reason: 0 })
  const common = ({ id, transactionId }: FraudRow) =>
    `{"id":"${id}","merchantId":"${merchant.id}","transactionId":"${transactionId}","created":"${service.now().toISOString()}"`
  const told = [`${common(whole)},"reported":"2030-01-01T00:00:00.000Z","reason":0}`, `${common(bare)}}`]
  const list = await get(`/frauds?limit=10&filter[merchantId]=${merchant.id}`, merchant)
  expect([list.status, list.text]).toEqual([200, `[\n${told.join(',\n')}\n]\n`])
  expect((await get(`/frauds/${whole.id}`, merchant)).text).toBe(`{"fraud":${told[0]}}\n`)
  expect((await get(`/frauds/${bare.id}`, merchant)).text).toBe(`{"fraud":${told[1]}}\n`)
})

test('fraud alerts come in pages, of one transaction where that is asked for', async () => {
  const [merchant, other] = [await plantMerchant(service), await plantMerchant(service)]
  await plantFraud(other)
  const transactionId = service.app.mintId(tagOf(merchant.id))
  const ids: string[] = []
  for (let count = 0; count < 6; count++) ids.push((await plantFraud(merchant, count % 2 ? { transactionId } : {})).id)
  const listed = async (query: string) =>
    (await get(`/frauds?filter[merchantId]=${merchant.id}&${query}`, merchant))
      .json<{ id: string }[]>()
      .map(({ id }) => ids.indexOf(id))
  const ofOne = `filter[transactionId]=${transactionId}`
  expect(await listed('limit=3')).toEqual([5, 4, 3])
  expect(await listed(`limit=3&before=${ids[3]}`)).toEqual([2, 1, 0])
  expect(await listed(`limit=3&after=${ids[1]}`)).toEqual([2, 3, 4])
  expect(await listed(`limit=9&after=${ids[1]}&before=${ids[5]}`)).toEqual([4, 3, 2])
  expect(await listed(`limit=2&${ofOne}`)).toEqual([5, 3])
  expect(await listed(`limit=1&${ofOne}&after=${ids[0]}`)).toEqual([1])
})

test.each([
  ['?limit=10', 'filter.merchantId', 'Required'],
  ['?limit=10&filter[merchantId]=x', 'filter.merchantId', 'Must be 24 hex digits'],
  [
    '?limit=10&filter[merchantId]=ffffffffffffffffffffffff&filter[transactionId]=x',
    'filter.transactionId',
    'Must be 24 hex digits',
  ],
  ['?filter[merchantId]=ffffffffffffffffffffffff', 'limit', 'Required'],
])('%s is refused', async (query, field, message) => {
  const answer = await get(`/frauds${query}`, await createApp(service.call))
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
})

test('what is foreign, unknown or no id is not found', async () => {
  const merchant = await plantMerchant(service)
  const { id } = await plantFraud(merchant)
  const stranger = await createApp(service.call)
  for (const [path, who] of [
    [`/frauds/${id}`, stranger],
    [`/frauds/${'f'.repeat(24)}`, merchant],
    ['/frauds/wrong_id', merchant],
    [`/frauds?limit=10&filter[merchantId]=${merchant.id}`, stranger],
  ] as const) {
    const answer = await get(path, who)
    expect([answer.status, answer.text]).toEqual([404, ''])
  }
})

test('the same alert told twice is one', async () => {
  const merchant = await plantMerchant(service)
  const fraud = await plantFraud(merchant)
  const again = { ...fraud, id: service.app.mintId(tagOf(merchant.id)), acquirerReference: fraud.id }
  expect(await insertFraud(service.app.db, again)).toBe(false)
})
