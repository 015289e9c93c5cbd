import { tagOf } from '@tollgate/kit/id'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp, plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

type Merchant = Awaited<ReturnType<typeof plantMerchant>>
type Kind = 'capture' | 'refund' | 'payout' | 'dispute'
type Planted = { transactionId?: string; description?: string; won?: boolean; test?: boolean }

async function plantLine(merchant: Merchant, kind: Kind, given: Planted = {}): Promise<string> {
  const { app, now } = service
  const tag = tagOf(merchant.id)
  const id = app.mintId(tag)
  const isPayout = kind === 'payout'
  await app.db`
    insert into pay.lines (merchant_id, id, created, test, kind, won, balance, fee, amount, currency, transaction_id, dispute_id, iban,
      description)
    values (${merchant.id}, ${id}, ${now()}, ${given.test ?? true}, ${kind}, ${given.won ?? null}, ${kind === 'capture' ? 950 : -1000}, 50,
      1000, 'DKK', ${isPayout ? null : (given.transactionId ?? app.mintId(tag))}, ${kind === 'dispute' ? app.mintId(tag) : null},
      ${isPayout ? 'DK5000400440116243' : null}, ${given.description ?? null})`
  return id
}

function list(merchant: { id: string; authorization: string }, query: string) {
  return service.call(`GET /merchants/${merchant.id}/lines${query}`, { headers: { authorization: merchant.authorization } })
}

async function listed(merchant: Merchant, query: string): Promise<string[]> {
  const answer = await list(merchant, query)
  expect(answer.status).toBe(200)
  return answer.json<{ id: string }[]>().map(({ id }) => id)
}

test('an empty list is written in two lines', async () => {
  const answer = await list(await plantMerchant(service), '?limit=10')
  expect([answer.status, answer.text]).toEqual([200, '[\n]\n'])
})

test('a list is written one line a line, each with what it is and nothing that it is not', async () => {
  const merchant = await plantMerchant(service)
  const transactionId = service.app.mintId(tagOf(merchant.id))
  const ids = [
    await plantLine(merchant, 'capture', { transactionId, description: 'Order 7' }),
    await plantLine(merchant, 'dispute', { transactionId }),
    await plantLine(merchant, 'dispute', { transactionId, won: true }),
    await plantLine(merchant, 'dispute', { transactionId, won: false }),
    await plantLine(merchant, 'refund', { transactionId }),
    await plantLine(merchant, 'payout'),
  ]
  const common = (id: string | undefined, balance: number) =>
    `{"id":"${id}","merchantId":"${merchant.id}","test":true,"created":"${service.now().toISOString()}","balance":${balance},"fee":50,"amount":{"currency":"DKK","amount":1000}`
  const [capture, opened, won, lost, refund, payout] = ids
  expect((await list(merchant, '?limit=10')).text.split('\n')).toEqual([
    '[',
    `${common(payout, -1000)},"bank":{"iban":"DK5000400440116243"},"payout":true},`,
    `${common(refund, -1000)},"transactionId":"${transactionId}","refund":true},`,
    `${common(lost, -1000)},"transactionId":"${transactionId}","dispute":true,"lost":true},`,
    `${common(won, -1000)},"transactionId":"${transactionId}","dispute":true,"won":true},`,
    `${common(opened, -1000)},"transactionId":"${transactionId}","dispute":true},`,
    `${common(capture, 950)},"transactionId":"${transactionId}","description":"Order 7","capture":true}`,
    ']',
    '',
  ])
})

describe('pages', () => {
  let merchant: Merchant
  let ids: string[]
  beforeAll(async () => {
    merchant = await plantMerchant(service)
    ids = []
    for (let count = 0; count < 7; count++) ids.push(await plantLine(merchant, 'capture'))
  })
  const some = (...places: number[]) => places.map((place) => ids[place])

  test.each([
    ['the newest first', () => '', [6, 5, 4]],
    ['before is strictly older', () => `&before=${ids[4]}`, [3, 2, 1]],
    ['the last page is shorter', () => `&before=${ids[2]}`, [1, 0]],
    ['after is strictly newer, the adjacent ones, oldest first', () => `&after=${ids[1]}`, [2, 3, 4]],
    ['both are strictly between, newest first', () => `&after=${ids[0]}&before=${ids[6]}`, [5, 4, 3]],
    ['both the wrong way round are nothing', () => `&after=${ids[5]}&before=${ids[2]}`, []],
    ['an empty cursor is none', () => '&before=&after=', [6, 5, 4]],
    ['sort is ignored', () => '&sort=created', [6, 5, 4]],
  ])('%s', async (_, query, places) => {
    expect(await listed(merchant, `?limit=3${query()}`)).toEqual(some(...places))
  })

  test('a cursor may be made from a date', async () => {
    const second = Math.floor(service.now().getTime() / 1000)
    const cursor = (seconds: number) => seconds.toString(16).padStart(8, '0') + '0'.repeat(16)
    expect(await listed(merchant, `?limit=10&before=${cursor(second)}`)).toEqual([])
    expect(await listed(merchant, `?limit=10&after=${cursor(second)}`)).toEqual(ids)
  })

  test.each([
    ['', 'limit', 'Required'],
    ['?limit=0', 'limit', 'Must be at least 1'],
    ['?limit=-1', 'limit', 'Must be at least 1'],
    ['?limit=1001', 'limit', 'Must be at most 1000'],
    ['?limit=ten', 'limit', 'Must be a whole number'],
    ['?limit=10&before=x', 'before', 'Must be 24 hex digits'],
    ['?limit=10&after=0000', 'after', 'Must be 24 hex digits'],
    ['?limit=10&filter[test]=maybe', 'filter.test', 'Must be true or false'],
    ['?limit=10&filter[capture]=2', 'filter.capture', 'Must be true or false'],
    ['?limit=10&filter[transactionId]=x', 'filter.transactionId', 'Must be 24 hex digits'],
    ['?limit=10&filter=x', 'filter', 'Must be an object'],
  ])('%s is refused', async (query, field, message) => {
    const answer = await list(merchant, query)
    expect([answer.status, answer.json()]).toEqual([400, [{ field, message }]])
  })
})

describe('filters', () => {
  let merchant: Merchant
  let transactionId: string
  let byName: Record<string, string>
  beforeAll(async () => {
    merchant = await plantMerchant(service)
    transactionId = service.app.mintId(tagOf(merchant.id))
    byName = {
      capture: await plantLine(merchant, 'capture', { transactionId, description: 'Order 7' }),
      other: await plantLine(merchant, 'capture', { description: 'Order 8' }),
      refund: await plantLine(merchant, 'refund', { transactionId }),
      dispute: await plantLine(merchant, 'dispute'),
      payout: await plantLine(merchant, 'payout', { description: 'Order 7' }),
    }
  })

  const all = ['payout', 'dispute', 'refund', 'other', 'capture']
  test.each([
    ['filter[test]=y', all],
    ['filter%5Btest%5D=1', all],
    ['filter[test]=n', []],
    ['filter[capture]=yes', ['other', 'capture']],
    ['filter[capture]=no', ['payout', 'dispute', 'refund']],
    ['filter[refund]=true', ['refund']],
    ['filter[payout]=1', ['payout']],
    ['filter[dispute]=y', ['dispute']],
    ['filter[dispute]=y&filter[refund]=y', []],
    ['filter[dispute]=y&filter[refund]=n', ['dispute']],
    ['filter[capture]=n&filter[refund]=n&filter[payout]=n&filter[dispute]=n', []],
    ['filter[description]=Order+7', ['payout', 'capture']],
    ['filter[description]=Order', []],
    ['filter[description]=Order+7&filter[capture]=y', ['capture']],
    ['filter[description]=', all],
    ['filter[unknown]=7', all],
    ['filter=', all],
  ])('%s', async (filter, names) => {
    expect(await listed(merchant, `?limit=10&${filter}`)).toEqual(names.map((name) => byName[name]))
  })

  test('by transaction, in both orders, in pages, and together with others', async () => {
    const { capture, refund } = byName
    const filter = `filter[transactionId]=${transactionId}`
    expect(await listed(merchant, `?limit=10&${filter}`)).toEqual([refund, capture])
    expect(await listed(merchant, `?limit=1&${filter}`)).toEqual([refund])
    expect(await listed(merchant, `?limit=1&${filter}&before=${refund}`)).toEqual([capture])
    expect(await listed(merchant, `?limit=10&${filter}&after=${'0'.repeat(24)}`)).toEqual([capture, refund])
    expect(await listed(merchant, `?limit=1&${filter}&after=${'0'.repeat(24)}`)).toEqual([capture])
    expect(await listed(merchant, `?limit=10&${filter}&filter[refund]=y`)).toEqual([refund])
    expect(await listed(merchant, `?limit=10&filter[transactionId]=${'f'.repeat(24)}`)).toEqual([])
  })
})

test('the lines of others are not in it, not even those with the same id', async () => {
  const [one, other] = [await plantMerchant(service), await plantMerchant(service)]
  const id = await plantLine(one, 'capture')
  await service.app.db`
    insert into pay.lines (merchant_id, id, created, test, kind, balance, fee, amount, currency, transaction_id)
    select ${other.id}, id, created, test, kind, -7, fee, amount, currency, transaction_id from pay.lines where id = ${id}`
  expect((await list(one, '?limit=10')).json()).toMatchObject([{ id, merchantId: one.id, balance: 950 }])
  expect((await list(other, '?limit=10')).json()).toMatchObject([{ id, merchantId: other.id, balance: -7 }])
})

test('the merchant of somebody else is as unknown as one that is not there, whatever the query says', async () => {
  const merchant = await plantMerchant(service)
  const { authorization } = await createApp(service.call)
  for (const id of [merchant.id, 'f'.repeat(24), 'wrong_id'])
    for (const query of ['?limit=10', '?limit=x']) {
      const answer = await list({ id, authorization }, query)
      expect([answer.status, answer.text]).toEqual([404, ''])
    }
  expect((await service.call(`GET /merchants/${merchant.id}/lines?limit=10`)).status).toBe(401)
})
