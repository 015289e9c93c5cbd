import { generateKeyPairSync, hash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { startClearhausFake } from '../acquirers/clearhaus-fake.ts'
import { plantMerchant, startPayments } from '../testing.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const apiKey = '0f3a7c11-cafe-4bee-a000-0000000000aa'
const signingKeyId = '4390aec7-f76a-4c2f-8597-c87c2d06cb4f'

type Fake = Awaited<ReturnType<typeof startClearhausFake>>
type Service = Awaited<ReturnType<typeof startPayments>>

let fake: Fake
let service: Service

beforeAll(async () => {
  fake = await startClearhausFake({ apiKey, signingKeyId, publicKey })
  service = await startPayments({
    PAY_ACQUIRER: 'clearhaus',
    PAY_CLEARHAUS_URL: fake.origin,
    PAY_CLEARHAUS_API_KEY: apiKey,
    PAY_CLEARHAUS_SIGNING_KEY_ID: signingKeyId,
    PAY_CLEARHAUS_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    PAY_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'true',
  })
  return () => fake.close()
})

const headers = { 'accept-version': '1', 'content-type': 'application/json' }
const number = '4111111111111111'

const ask = (what: string, json: object) => service.call(`POST ${what}`, { json, headers })

async function tokenize(type: string, value: string) {
  return (await ask('/vault', { type, value })).json<{ token: string }>()
}

async function orderOf(key: string, more: object = {}, pan = number) {
  const [token, code] = [await tokenize('pcn', pan), await tokenize('pcsc', '987')]
  const card = { number: token, code, expiry: { month: 6, year: 2031 } }
  return { integration: { key }, amount: { currency: 'EUR', exponent: 2, value: 1000 }, card, ...more }
}

/** Live merchants have no simulated bank in the way: two steps. */
async function pay(body: object) {
  const first = (await ask('/payments/challenges/authorize-integration', body)).json<{ hints: string[] }>().hints
  const last = await ask('/payments/challenges/authorize', { ...body, hints: first })
  if (last.status !== 200) return last
  return ask('/payments', { ...body, hints: [...first, ...last.json<{ hints: string[] }>().hints] })
}

test('a live payment reaches the acquirer with number and code, which are nowhere afterwards', async () => {
  const merchant = await plantMerchant(service, { test: false })
  const paid = await pay(await orderOf(merchant.key))
  const { authorizationId } = paid.json<{ authorizationId: string }>()
  const sent = new URLSearchParams(fake.requests.at(-1)?.body)
  expect([sent.get('card[pan]'), sent.get('card[csc]'), sent.get('reference')]).toEqual([number, '987', authorizationId])
  expect(sent.has('series[type]')).toBe(false)
  const kept = await service.app.db`select * from pay.agreements where transaction_id = ${authorizationId}`
  expect(kept).toEqual([])
  expect(await service.app.db`select from pay.security_codes`).toEqual([])
})

test('what the payer agreed to is charged again with the card that was kept, as part of the series', async () => {
  const merchant = await plantMerchant(service, { test: false })
  const paid = await pay(await orderOf(merchant.key, { unplanned: { merchant: true } }))
  const { authorizationId: transactionId } = paid.json<{ authorizationId: string }>()
  expect(new URLSearchParams(fake.requests.at(-1)?.body).get('series[type]')).toBe('unscheduled')
  const again = await service.call(`POST /merchants/${merchant.id}/transactions`, {
    json: { transactionId, currency: 'EUR', amount: 250 },
    headers: { authorization: merchant.authorization },
  })
  expect(again.status).toBe(201)
  const sent = new URLSearchParams(fake.requests.at(-1)?.body)
  expect([sent.get('card[pan]'), sent.get('card[csc]'), sent.get('series[previous][id]')]).toEqual([
    number,
    null,
    fake.authorizations().at(-2)?.id,
  ])
})

test('a payment of an amount that nobody agreed to repeat cannot be repeated: its card is not kept', async () => {
  const merchant = await plantMerchant(service, { test: false })
  const { authorizationId: transactionId } = (await pay(await orderOf(merchant.key))).json<{ authorizationId: string }>()
  const again = await service.call(`POST /merchants/${merchant.id}/transactions`, {
    json: { transactionId, currency: 'EUR', amount: 250 },
    headers: { authorization: merchant.authorization },
  })
  expect([again.status, again.json()]).toMatchObject([400, { code: 12 }])
})

test('an acquirer that does not answer is asked once; the device is told to try again until somebody knows', async () => {
  const merchant = await plantMerchant(service, { test: false })
  const body = await orderOf(merchant.key)
  const before = fake.requests.length
  fake.suffer({ done: true, answer: 'cut' })
  const first = await pay(body)
  expect([first.status >= 500, first.headers['content-type'], first.headers['retry-after']]).toEqual([
    true,
    'text/plain; charset=utf-8',
    '5',
  ])
  const again = await pay(body)
  expect(again.status).toBeGreaterThanOrEqual(500)
  expect(fake.requests.length).toBe(before + 1)
})

test('a number with a wrong check digit is refused without asking anybody', async () => {
  const merchant = await plantMerchant(service, { test: false })
  const before = fake.requests.length
  const refused = await pay(await orderOf(merchant.key, {}, '4111111111111112'))
  expect([refused.status, refused.json<{ code: string }>().code]).toEqual([400, 'PAYMENT_CARD_NUMBER_INVALID'])
  expect(fake.requests.length).toBe(before)
})

test('an expired card is refused, and a merchant that demands 3-D Secure is not paid without', async () => {
  const merchant = await plantMerchant(service, { test: false })
  const order = await orderOf(merchant.key)
  const expired = await pay({ ...order, card: { ...order.card, expiry: { month: 1, year: 2001 } } })
  expect(expired.json()).toMatchObject({ code: 'PAYMENT_CARD_EXPIRED' })
  const strict = await plantMerchant(service, { test: false })
  await service.app.db`update pay.merchants set tds_mode = 'full' where id = ${strict.id}`
  expect((await pay(await orderOf(strict.key))).json()).toMatchObject({ code: 'TDSECURE_REQUIRED' })
})

test('an agreement of a payment that is declined is not kept', async () => {
  const merchant = await plantMerchant(service, { test: false })
  // With this card the gateway reads the amount as its answer.
  const amount = { currency: 'EUR', exponent: 2, value: 40410 }
  const refused = await pay(await orderOf(merchant.key, { amount, unplanned: { merchant: true } }, '4200001234630000'))
  expect(refused.json()).toMatchObject({ code: 'PAYMENT_REJECTED_BY_ISSUER' })
  expect(await service.app.db`select from pay.agreements where merchant_id = ${merchant.id}`).toEqual([])
})

describe('a card that is declined again and again', () => {
  const declining = '4200001234630000'
  const amountOf = (value: number) => ({ amount: { currency: 'EUR', exponent: 2, value } })

  async function attempts(count: number, value: number, pan = declining) {
    const merchant = await plantMerchant(service, { test: false })
    const orders = await Promise.all(Array.from({ length: count }, () => orderOf(merchant.key, amountOf(value), pan)))
    return (await Promise.all(orders.map(pay))).map(({ status }) => status).toSorted()
  }

  test('is tried ten times, whoever tries, wherever, and however many at once', async () => {
    // The card of the test before was declined once.
    service.now.advance(86_400)
    const before = fake.requests.length
    const [here, there] = await Promise.all([attempts(12, 40410), attempts(12, 40410)])
    expect([...here, ...there].toSorted()).toEqual([...Array(10).fill(400), ...Array(14).fill(429)])
    expect(fake.requests.length).toBe(before + 10)
    expect(await attempts(1, 20000)).toEqual([429])
  })

  test('is tried once more every two hours; others go on, and a try that pays is not counted', async () => {
    expect(await attempts(1, 1000, number)).toEqual([200])
    service.now.advance(7_200)
    // Were it counted, the second would find nothing left.
    expect([await attempts(1, 20000), await attempts(1, 20000)]).toEqual([[200], [200]])
    expect([await attempts(1, 40410), await attempts(1, 40410)]).toEqual([[400], [429]])
  })

  test('is known by a print that tells nothing without the key', async () => {
    const rows = await service.app.db<{ key: Buffer }>`select key from kit.rate_limits`
    expect(rows.length).toBeGreaterThan(0)
    const plain = [declining, `declined card ${declining}`].flatMap((text) =>
      ['sha256', 'sha1', 'md5'].map((name) => hash(name, text, 'hex')),
    )
    for (const { key } of rows) expect(plain).not.toContain(key.toString('hex'))
  })
})
