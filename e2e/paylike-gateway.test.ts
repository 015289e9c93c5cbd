import { generateKeyPairSync } from 'node:crypto'
import { say } from '@tollgate/kit/testing'
import { startClearhausFake } from '@tollgate/payments/acquirers/clearhaus-fake'
import { plantMerchant, startPayments } from '@tollgate/payments/testing'
import Paylike from 'paylike'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop, type Payments, type Shop } from './payments-service.ts'

// Integrations from before there was a vault: a page or a server sends the card itself, with the public key of the merchant.
let service: Payments
let shop: Shop
beforeAll(async () => {
  service = await startPayments()
  shop = await openShop(service)
})
afterAll(() => service.stop())

const card = { number: '4100 0000 0000 0000', expiry: { month: 8, year: 2066 }, code: '123' }

/** As the page of a shop sends it, whose form has brackets in its names. */
function formOf({ number, expiry, code }: typeof card, around: (name: string) => string): Record<string, string> {
  const names = { number: around('number'), month: `${around('expiry')}[month]`, year: `${around('expiry')}[year]` }
  return { [names.number]: number, [names.month]: `${expiry.month}`, [names.year]: `${expiry.year}`, [around('code')]: code }
}

const inCard = (name: string) => `card[${name}]`
const plainly = (name: string) => name

async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await fetch(service.origin + path, { method: 'POST', body: new URLSearchParams(fields), headers })
  return { status: answer.status, headers: answer.headers, text: answer.statusText, told: await answer.json() }
}

test('what a page of old has reserved is captured and told by the official client', async () => {
  const paid = await post('/transactions', { key: shop.key, currency: 'EUR', amount: '300', ...formOf(card, inCard) })
  expect([paid.status, paid.told]).toEqual([200, { transaction: { id: expect.any(String) } }])
  const paylike = Paylike(shop.app.key, { url: service.origin })
  const { id } = paid.told.transaction
  await paylike.transactions.capture(id, { amount: 200, currency: 'EUR' })
  expect(await paylike.transactions.findOne(id)).toMatchObject({ amount: 300, capturedAmount: 200, pendingAmount: 100 })
})

test('a card that a page of old has saved is found and charged by the official client', async () => {
  const saved = await post('/cards', { key: shop.key, ...formOf(card, plainly) })
  const cardId = saved.told.card.id
  const paylike = Paylike(shop.app.key, { url: service.origin })
  expect(await paylike.cards.findOne(cardId)).toMatchObject({ id: cardId, bin: '410000', last4: '0000', notes: null })
  const id = await paylike.merchants.transactions.create(shop.id, { cardId, currency: 'EUR', amount: 500 })
  expect(await paylike.transactions.findOne(id)).toMatchObject({ amount: 500, recurring: true, successful: true })
})

test('a decline is an object with all that old pages show, and names what was kept of it', async () => {
  const declined = formOf({ ...card, number: '4100 0000 0000 0007' }, inCard)
  const answer = await post('/transactions', { key: shop.key, currency: 'EUR', amount: '300', ...declined })
  expect([answer.status, answer.text]).toEqual([400, 'Bad Request'])
  expect(answer.told).toEqual({
    ...{ code: 7, message: 'Insufficient funds', text: 'Insufficient funds', client: true, merchant: false },
    response: { transaction: { id: expect.stringMatching(/^[0-9a-f]{24}$/) } },
  })
})

test.each(['/transactions', '/cards'])(
  'pages of any shop may call %s, and nothing that a browser keeps goes along',
  async (path) => {
    const origin = 'https://shop.example'
    const asked = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
    const preflight = await service.call(`OPTIONS ${path}`, { headers: asked })
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'Content-Type, X-Client, Idempotency-Key',
    })
    expect(preflight.headers).not.toHaveProperty('access-control-allow-credentials')
    const answer = await post(path, { key: 'nobody' }, { origin })
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    const elsewhere = await service.call(`GET ${path}/0123456789abcdef01234567`, { headers: { origin } })
    expect(elsewhere.headers).not.toHaveProperty('access-control-allow-origin')
  },
)

test.each([
  ['/transactions', 'custom=text', 'custom: Must be a JSON object of at most 50 kB'],
  ['/transactions', 'card=4100000000000000', 'card: Must be an object'],
  ['/cards', 'expiry=08%2F66', 'expiry: Must be an object'],
  ['/cards', '%ff', 'a percent-encoded field is not valid UTF-8'],
])('old clients of %s read what is wrong with %s in the first line of the answer', async (path, body, reason) => {
  const type = 'Content-Type: application/x-www-form-urlencoded'
  const head = `POST ${path} HTTP/1.1\r\nHost: pay\r\nConnection: close\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n`
  const answer = await say(service.origin, head + body)
  expect(answer.split('\r\n')[0]).toBe(`HTTP/1.1 400 ${reason}`)
})

const canary = { number: '4111111111111111', expiry: { month: 6, year: 2041 }, code: '987' }

/** All that is in the database, as text. */
async function everythingKept({ app: { db } }: Payments): Promise<string> {
  const tables = await db<{ name: string }>`select tablename as name from pg_tables where schemaname = 'pay'`
  const [row] = await db<{ text: string }>`
    select string_agg(query_to_xml(format('select * from pay.%I', name), true, false, '')::text, '') as text
    from unnest(${tables.map(({ name }) => name)}::text[]) as name`
  return row?.text ?? ''
}

test('the acquirer alone is told number and code: no log, no table and no answer has them', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const [apiKey, signingKeyId] = ['0f3a7c11-cafe-4bee-a000-0000000000aa', '4390aec7-f76a-4c2f-8597-c87c2d06cb4f']
  const fake = await startClearhausFake({ apiKey, signingKeyId, publicKey })
  const live = await startPayments({
    PAY_ACQUIRER: 'clearhaus',
    PAY_CLEARHAUS_URL: fake.origin,
    PAY_CLEARHAUS_API_KEY: apiKey,
    PAY_CLEARHAUS_SIGNING_KEY_ID: signingKeyId,
    PAY_CLEARHAUS_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    PAY_SECURITY_ALLOW_PRIVATE_ADDRESSES: 'true',
  })
  try {
    const merchant = await plantMerchant(live, { test: false })
    const order = { key: merchant.key, currency: 'EUR', amount: 1000, card: canary }
    const answers: string[] = []
    const ask = async (path: string, json: object, headers: Record<string, string> = {}) => {
      const answer = await live.call(`POST ${path}`, { json, headers: { accept: 'application/json', ...headers } })
      answers.push(answer.text)
      return answer
    }
    const sent = () => new URLSearchParams(fake.requests.at(-1)?.body)

    expect((await ask('/transactions', order, { 'idempotency-key': 'one' })).status).toBe(200)
    expect([sent().get('card[pan]'), sent().get('card[csc]')]).toEqual([canary.number, canary.code])
    expect((await ask('/transactions', order, { 'idempotency-key': 'one' })).status).toBe(200)
    expect(fake.requests).toHaveLength(1)

    const saved = await ask('/cards', { key: merchant.key, ...canary })
    expect([saved.status, sent().get('amount'), sent().get('series[type]')]).toEqual([200, '0', 'unscheduled'])
    const cardId = saved.json<{ card: { id: string } }>().card.id
    const charge = { cardId, currency: 'EUR', amount: 500 }
    const again = await ask(`/merchants/${merchant.id}/transactions`, charge, { authorization: merchant.authorization })
    expect([again.status, sent().get('card[pan]'), sent().get('card[csc]')]).toEqual([201, canary.number, null])

    // Whatever goes wrong: the acquirer, the order, the fields, the letters, the database.
    fake.suffer({ done: true, answer: 'cut' })
    expect((await ask('/transactions', order, { 'idempotency-key': 'cut' })).status).toBe(504)
    expect((await ask('/transactions', order, { 'idempotency-key': 'cut' })).status).toBe(409)
    expect((await ask('/transactions', { ...order, amount: 'x', card: { ...canary, code: '9876' } })).status).toBe(400)
    expect((await ask('/transactions', { ...order, custom: 'x' })).status).toBe(400)
    expect((await ask('/transactions', { ...order, card: canary.number })).status).toBe(400)
    expect((await ask('/transactions', { ...order, card: { ...canary, number: [canary.number] } })).status).toBe(400)
    const broken = await live.call('POST /cards', { raw: `${JSON.stringify(canary)}x`, headers: { 'content-type': 'text/json' } })
    answers.push(broken.text)
    expect(broken.status).toBe(400)
    await live.app.db`alter table pay.transactions add constraint broken check (amount <> 667)`
    expect((await ask('/transactions', { ...order, amount: 667 }, { 'idempotency-key': 'bug' })).status).toBe(500)

    const told = [...answers, ...live.lines.map((line) => JSON.stringify(line))].join('\n')
    const kept = await everythingKept(live)
    expect(kept).toContain(merchant.id)
    for (const text of [told, kept]) {
      expect(text).not.toContain(canary.number)
      expect(text).not.toContain(Buffer.from(canary.number).toString('hex'))
      expect(text).not.toContain(Buffer.from(canary.number).toString('base64').slice(0, 20))
    }
    // Three digits are in many an id.
    expect(told).not.toMatch(/["\s:\\]987["\s,\\]/)
    expect(kept).not.toMatch(/>987</)
  } finally {
    await live.stop()
    await fake.close()
  }
})
