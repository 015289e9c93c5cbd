import { beforeAll, expect, test } from 'vitest'
import { plantMerchant, startPayments } from '../testing.ts'
import { forgetCallers } from './limit.ts'

type Service = Awaited<ReturnType<typeof startPayments>>

let service: Service
let merchant: Awaited<ReturnType<typeof plantMerchant>>

beforeAll(async () => {
  service = await startPayments({
    PAY_RATE_LIMIT_HEADER: 'X-Caller',
    PAY_RATE_LIMIT_DECLINED: '3/1m',
    PAY_RATE_LIMIT_VAULT: '1000/1s',
    PAY_RATE_LIMIT_NEWCOMERS: '2',
  })
  merchant = await plantMerchant(service)
})

async function pay(caller: string | undefined, card: object) {
  return (await prepare(caller, card))()
}

/** A customer whose next step is to pay, however often they send it. */
async function prepare(caller: string | undefined, card: object) {
  const headers = {
    'accept-version': '1',
    'content-type': 'application/json',
    ...(caller === undefined ? {} : { 'x-caller': caller }),
  }
  const ask = (what: string, json: object) => service.call(`POST ${what}`, { json, headers })
  const token = async (type: string, value: string) => (await ask('/vault', { type, value })).json<{ token: string }>()
  const order = {
    integration: { key: merchant.key },
    test: { card, tds: { challenge: false, fingerprint: 'unavailable' } },
    amount: { currency: 'EUR', exponent: 2, value: 100 },
    card: {
      number: await token('pcn', '4100000000000000'),
      code: await token('pcsc', '123'),
      expiry: { month: 12, year: 2030 },
    },
  }
  const hints: string[] = []
  for (const step of ['authorize-integration', 'tds-enrolled'])
    hints.push(...(await ask(`/payments/challenges/${step}`, { ...order, hints })).json<{ hints: string[] }>().hints)
  return () => ask('/payments/challenges/authorize', { ...order, hints })
}

const lost = { status: 'lost' }

test('whoever has had some cards declined is asked to wait, and nobody else is', async () => {
  for (let time = 0; time < 3; time++) expect((await pay('192.0.2.1', lost)).status).toBe(400)
  const refused = await pay('192.0.2.1', {})
  expect([refused.status, refused.headers['retry-after'], refused.headers['content-type']]).toEqual([
    429,
    '60',
    'text/plain; charset=utf-8',
  ])
  expect((await pay('192.0.2.2', {})).status).toBe(200)
  service.now.advance(60)
  expect((await pay('192.0.2.1', {})).status).toBe(200)
  expect((await pay('192.0.2.1', lost)).status).toBe(400)
  expect((await pay('192.0.2.1', lost)).status).toBe(429)
})

test('those who pay are not counted, and those whom nothing tells apart are not limited', async () => {
  for (let time = 0; time < 5; time++) expect((await pay('192.0.2.3', {})).status).toBe(200)
  for (let time = 0; time < 5; time++) expect((await pay(undefined, lost)).status).toBe(400)
})

test('one caller makes so many apps an hour', async () => {
  const make = () => service.call('POST /apps', { json: {}, headers: { 'x-caller': '2001:db8::1' } })
  expect([(await make()).status, (await make()).status]).toEqual([201, 201])
  const refused = await make()
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3600'])
  // The whole of a network of IPv6 is one caller.
  expect((await service.call('POST /apps', { json: {}, headers: { 'x-caller': '2001:db8::2' } })).status).toBe(429)
})

test('cards cannot be tried out at the old gateway either, and the two ways of paying count together', async () => {
  const card = { number: '4100000000000010', expiry: { month: 12, year: 2030 }, code: '123' }
  const json = { key: merchant.key, currency: 'EUR', amount: 100, card }
  const tryIt = () => service.call('POST /transactions', { json, headers: { 'x-caller': '192.0.2.9' } })
  expect([(await tryIt()).status, (await tryIt()).status, (await pay('192.0.2.9', lost)).status]).toEqual([400, 400, 400])
  expect([(await tryIt()).status, (await pay('192.0.2.9', {})).status]).toEqual([429, 429])
})

test('those who try many cards at once get no more tries than those who try one after the other', async () => {
  const card = { number: '4100000000000010', expiry: { month: 12, year: 2030 }, code: '123' }
  const json = { key: merchant.key, currency: 'EUR', amount: 100, card }
  const tryIt = () => service.call('POST /transactions', { json, headers: { 'x-caller': '192.0.2.12' } })
  const answers = await Promise.all(Array.from({ length: 30 }, tryIt))
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(3)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(27)
})

test('to be told again that a payment was declined is not to be declined again', async () => {
  const [declined, paid] = [await prepare('192.0.2.4', lost), await prepare('192.0.2.4', {})]
  expect((await paid()).status).toBe(200)
  const first = await declined()
  for (let time = 0; time < 5; time++) expect((await declined()).json()).toEqual(first.json())
  expect([(await pay('192.0.2.4', lost)).status, (await pay('192.0.2.4', lost)).status]).toEqual([400, 400])
  // From here on nothing new is tried; what came of the rest is told all the same.
  expect((await pay('192.0.2.4', {})).status).toBe(429)
  expect([(await declined()).status, (await paid()).status]).toEqual([400, 200])
})

test('nor is it at the old gateway, with a key; without one every request is a try', async () => {
  const card = { number: '4100000000000010', expiry: { month: 12, year: 2030 }, code: '123' }
  const json = { key: merchant.key, currency: 'EUR', amount: 100, card }
  const tryIt = (key?: string) =>
    service.call('POST /transactions', {
      json,
      headers: { 'x-caller': '192.0.2.10', ...(key ? { 'idempotency-key': key } : {}) },
    })
  for (let time = 0; time < 5; time++) expect((await tryIt('the-same')).status).toBe(400)
  expect([(await tryIt()).status, (await tryIt()).status, (await tryIt()).status]).toEqual([400, 400, 429])
  expect((await tryIt('the-same')).status).toBe(400)
})

test('what was refused before a card was tried is not counted', async () => {
  const blocked = await plantMerchant(service)
  await service.app.db`update pay.merchants set can_charge_card = false where id = ${blocked.id}`
  const card = { number: '4100000000000000', expiry: { month: 12, year: 2030 }, code: '123' }
  const json = { key: blocked.key, currency: 'EUR', amount: 100, card }
  const tryIt = () => service.call('POST /transactions', { json, headers: { 'x-caller': '192.0.2.11' } })
  for (let time = 0; time < 5; time++) expect((await tryIt()).json()).toMatchObject({ code: 27 })
})

test('callers are forgotten when they are as good as new, and not before', async () => {
  const count = async () => (await service.app.db`select from pay.rate_limits`).length
  await pay('192.0.2.77', lost)
  const before = await count()
  await forgetCallers(service.app)
  expect(await count()).toBe(before)
  // A card that was declined ten times takes the longest.
  service.now.advance(19 * 3600)
  await forgetCallers(service.app)
  expect(await count()).toBe(before)
  service.now.advance(3601)
  await forgetCallers(service.app)
  expect(await count()).toBe(0)
})
