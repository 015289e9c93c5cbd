import type { TestedService } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { plantMerchant, startPayments } from '../testing.ts'

let service: TestedService<App>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
const ids: string[] = []
beforeAll(async () => {
  service = await startPayments()
  merchant = await plantMerchant(service)
  for (const number of [1, 2, 3]) {
    const id = `5e1a2b3c4d5e6f708192000${number}`
    ids.push(id)
    await service.app.db`
      insert into pay.payouts (merchant_id, day, id, line_id, created, test, currency, amount, iban, holder)
      values (${merchant.id}, ${`2030-01-0${number}`}, ${id}, ${`aa1a2b3c4d5e6f708192000${number}`}, ${service.now()}, true, 'EUR',
        ${number * 100}, 'DK5000400440116243', 'Shop')`
  }
})
afterAll(() => service.stop())

async function list(query: string, authorization = merchant.authorization) {
  return service.call(`GET /merchants/${merchant.id}/payouts?${query}`, { headers: { authorization } })
}

async function listed(query: string): Promise<string[]> {
  return (await list(query)).json<{ id: string }[]>().map(({ id }) => id)
}

test('payouts are listed one a line, newest first, with their day, account and line', async () => {
  const { status, text } = await list('limit=1')
  expect(status).toBe(200)
  expect(text.split('\n')).toHaveLength(4)
  expect(JSON.parse(text)).toEqual([
    {
      ...{ id: ids[2], created: service.now().toISOString(), day: '2030-01-03', amount: 300, currency: 'EUR' },
      ...{ bank: { iban: 'DK5000400440116243' }, lineId: 'aa1a2b3c4d5e6f7081920003' },
    },
  ])
})

test('a list goes on before an id, after one in turned order, and between two', async () => {
  const [oldest, middle, newest] = ids as [string, string, string]
  expect(await listed('limit=10')).toEqual([newest, middle, oldest])
  expect(await listed(`limit=10&before=${middle}`)).toEqual([oldest])
  expect(await listed(`limit=1&after=${oldest}`)).toEqual([middle])
  expect(await listed(`limit=10&after=${oldest}&before=${newest}`)).toEqual([middle])
})

test.each([
  ['filter[day]=2030-01-02', [1]],
  ['filter[amount]=300', [2]],
  ['filter[currency]=DKK', []],
  ['filter[lineId]=aa1a2b3c4d5e6f7081920001', [0]],
  ['filter[id]=5e1a2b3c4d5e6f7081920002', [1]],
  ['filter[nonsense]=1', [2, 1, 0]],
])('%s', async (filter, expected) => {
  expect(await listed(`limit=10&${filter}`)).toEqual(expected.map((index) => ids[index]))
})

test('a day that no calendar has, and a missing limit, are named', async () => {
  expect((await list('limit=1&filter[day]=2030-02-30')).json()).toMatchObject([{ field: 'filter.day' }])
  expect((await list('')).json()).toMatchObject([{ field: 'limit' }])
})

test("somebody else's merchant answers like one that does not exist", async () => {
  const other = await plantMerchant(service)
  expect((await list('limit=1', other.authorization)).status).toBe(404)
  expect((await list('', other.authorization)).status).toBe(404)
  expect((await list('limit=1', '')).status).toBe(401)
  const own = await service.call(`GET /merchants/${other.id}/payouts?limit=5`, {
    headers: { authorization: other.authorization },
  })
  expect(own.json()).toEqual([])
})
