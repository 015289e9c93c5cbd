import { type FakeTable, type HttpFake, startHttpFake } from '@tollgate/kit/http-fake'
import { afterEach, expect, test } from 'vitest'
import { demoShop } from '../dev/demo-shop.ts'
import { type Visit, visitWelcome } from '../welcome/testing.ts'
import { goods, paymentForSubscription } from './goods.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const key = '00000000-0000-4000-8000-d39012345678'
const id = '6af992103534f5c907ad043b'

async function visit(answers: FakeTable = {}): Promise<Visit & { service: HttpFake }> {
  const service = await startHttpFake(answers)
  const shop = {
    url: 'http://localhost:8080/shop',
    service: service.origin,
    posUrl: `${service.origin}/pos`,
    key,
    appKey: 'app-key',
  }
  const here = await visitWelcome({ shop })
  endings.push(here.close, service.close)
  return { ...here, service }
}

/** What the payments service says of a transaction. */
function paid(some: object): FakeTable {
  const card = { scheme: 'visa', last4: '0000' }
  const transaction = {
    id,
    amount: 2450,
    currency: 'EUR',
    successful: true,
    tds: 'full',
    card,
    custom: { item: 'fern' },
    ...some,
  }
  return { [`GET /transactions/${id}`]: { json: { transaction } } }
}

test('the welcome page leads to the shop where there is one', async () => {
  expect((await (await visit()).ask('/')).body).toContain('<a class="button primary" href="/shop">Pay as a customer would</a>')
  const without = await visitWelcome()
  endings.push(without.close)
  expect((await without.ask('/')).body).not.toContain('/shop')
  expect((await without.ask('/shop')).status).toBe(404)
})

test('the shop loads the popup from the payments service, and may show frames of that alone', async () => {
  const { ask, service } = await visit()
  const { status, headers, body } = await ask('/shop')
  expect(status).toBe(200)
  expect(body).toContain(`<script src="${service.origin}/sdk.js"></script>`)
  expect(body).toContain(`data-key="${key}"`)
  expect(body).not.toContain('app-key')
  const policy = String(headers['content-security-policy'])
  expect(policy).toMatch(new RegExp(`script-src 'sha256-[^']+' ${service.origin};`))
  expect(policy).toContain(`frame-src ${service.origin};`)
  expect(policy).not.toContain('unsafe')
})

test('the gift card is paid by a link that leads back to the shop', async () => {
  const { ask, service } = await visit()
  const address = /href="([^"]+\/pos\?[^"]+)"/.exec((await ask('/shop')).body)?.[1]?.replaceAll('&#38;', '&') ?? ''
  const link = new URL(address)
  expect(link.origin + link.pathname).toBe(`${service.origin}/pos`)
  expect(Object.fromEntries(link.searchParams)).toEqual({
    key,
    test: '1',
    currency: 'EUR',
    value: '50',
    text: 'Gift card',
    reference: 'gift-card',
    redirect: 'http://localhost:8080/shop/order',
  })
})

test('what is sold has the names and prices that it was sold at before', () => {
  const app = { id: '6918a2ea0000000000000001', key: 'key', created: '2029-12-25T10:00:00.000Z' }
  const sold = demoShop({ app, today: new Date(app.created) }).transactions.map(
    ({ amount, custom }) => `${custom.item}: ${amount}`,
  )
  for (const { name, price } of goods) expect(sold).toContain(`${name}: ${price}`)
})

test.each([
  ['2030-01-15T12:00:00Z', '2030-02-15T09:00:00.000Z'],
  ['2030-01-31T12:00:00Z', '2030-02-28T09:00:00.000Z'],
  ['2031-12-31T23:59:00Z', '2032-01-31T09:00:00.000Z'],
])('who subscribes at %s pays again at %s', (now, next) => {
  expect(paymentForSubscription(new Date(now)).plan).toMatchObject([{ repeat: { first: next, interval: { unit: 'month' } } }])
})

test('an order is confirmed with the transaction, as the service tells it', async () => {
  const { ask, service } = await visit(paid({ custom: { item: 'fern', greeting: '<b>Hello</b>' } }))
  const { status, body } = await ask(`/shop/order?transactionId=${id}`)
  expect(status).toBe(200)
  expect((await service.request()).headers.authorization).toBe(`Basic ${Buffer.from(':app-key').toString('base64')}`)
  for (const shown of [
    `<code id="transaction">${id}</code>`,
    'Fern in a clay pot',
    '€24.50 with Visa ending in 0000',
    '&#60;b&#62;Hello',
  ])
    expect(body).toContain(shown)
  expect(body).toContain(`curl -u :app-key ${service.origin}/transactions/${id}`)
})

test('what was paid by link is known by its reference', async () => {
  const { ask } = await visit(paid({ amount: 5000, custom: { reference: 'gift-card' } }))
  expect((await ask(`/shop/order?transactionId=${id}`)).body).toContain('Gift card')
})

test.each([
  ['that failed', { successful: false }],
  ['of another amount', { amount: 1 }],
  ['in another currency', { currency: 'DKK' }],
  ['for nothing that is sold', { custom: { item: 'yacht' } }],
  ['that tells of no order', { custom: undefined }],
])('a payment %s confirms nothing', async (_, some) => {
  const { ask } = await visit(paid(some))
  const { status, body } = await ask(`/shop/order?transactionId=${id}`)
  expect(status).toBe(404)
  expect(body).toContain('Nothing will be sent')
})

test.each(['', '?transactionId=', '?transactionId=../apps', '?transactionId=6af992103534f5c907ad0000', '?transactionId=%00'])(
  'an order page for %j confirms nothing',
  async (query) => {
    const { ask } = await visit(paid({}))
    expect((await ask(`/shop/order${query}`)).status).toBe(404)
  },
)
