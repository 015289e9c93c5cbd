import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let shop: { id: string; key: string }
let realShop: { id: string; key: string }

beforeAll(async () => {
  service = await startPayments({ PAY_API_EXTERNAL_URL: 'https://pay.example.com/base' })
  shop = await plantMerchant(service)
  realShop = await plantMerchant(service, { test: false, currency: 'DKK' })
})
afterAll(() => service?.stop())

type Query = Record<string, string>

const open = (query: Query, headers: Record<string, string> = {}) =>
  service.call(`GET /pos?${new URLSearchParams({ key: shop.key, test: '1', ...query })}`, { headers })

const openReal = (query: Query) => service.call(`GET /pos?${new URLSearchParams({ key: realShop.key, ...query })}`)

const dataIn = (page: string) => JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '')

test('a link opens a page that says whom one pays, how much and for what', async () => {
  const answer = await open({ value: '1234.5', text: 'Two cups', reference: 'A-17', locale: 'da_DK' })
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.text).toContain('<html lang="da">')
  expect(answer.text).toContain('1.234,50')
  for (const said of ['Shop', 'Two cups', 'A-17']) expect(answer.text).toContain(said)
  expect(dataIn(answer.text)).toMatchObject({
    merchant: { key: shop.key, name: 'Shop', test: true },
    payment: { currency: 'EUR', decimals: 2, minor: 123450, reference: 'A-17', recurring: false },
  })
})

test('what a browser asks for decides about the language, unless the link does', async () => {
  const headers = { 'accept-language': 'xx, de-AT;q=0.9, en;q=0.5' }
  expect((await open({ value: '1' }, headers)).text).toContain('<html lang="de">')
  expect((await open({ value: '1', locale: 'sv' }, headers)).text).toContain('<html lang="sv">')
  expect((await open({ value: '1' })).text).toContain('<html lang="en">')
})

test('without an amount the payer is asked for one, in the currency of the merchant', async () => {
  const { text } = await openReal({})
  expect(text).toContain('id="own-amount"')
  expect(dataIn(text).payment).toEqual({ currency: 'DKK', decimals: 2, recurring: false })
})

test('nothing comes from elsewhere, and nobody else may show the page', async () => {
  const { headers } = await open({ value: '1' })
  const policy = String(headers['content-security-policy'])
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "frame-src 'self' https://pay.example.com",
    "form-action 'self' https://pay.example.com",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ])
    expect(policy.split('; ')).toContain(part)
  expect(policy).not.toContain('unsafe')
  expect(headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
  })
  expect(headers['permissions-policy']).toContain('camera=()')
})

test('there is no script, style or handler in the page itself', async () => {
  const { text } = await open({ value: '1' })
  expect(text).not.toMatch(/<style|\sstyle=|\son\w+=/i)
  const scripts = [...text.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes)
  expect(scripts).toHaveLength(2)
  for (const each of scripts) expect(each).toMatch(/ src=.* integrity="sha384-|type="application\/json"/)
})

test('what the page loads is what it was sent with, small, and kept for ever', async () => {
  await service.app.db`update pay.merchants set accent = '#0f766e' where id = ${realShop.id}`
  const page = await fetch(`${service.origin}/pos?key=${realShop.key}`, { headers: { 'accept-encoding': 'br' } })
  let size = Number(page.headers.get('content-length'))
  const text = await page.text()
  const loaded = [...text.matchAll(/<(?:link|script)[^>]+(?:href|src)="([^"]+)"(?: integrity="([^"]+)")?/g)]
  expect(loaded.map(([, path]) => path?.replace(/[0-9a-f]{16}/, 'hash'))).toEqual([
    '/pos/assets/page-hash.css',
    '/pos/assets/accent-0f766e-ffffff-hash.css',
    '/pos/assets/icon-hash.svg',
    '/pos/assets/page-hash.js',
  ])
  for (const [, path = '', integrity] of loaded) {
    const file = await fetch(service.origin + path, { headers: { 'accept-encoding': 'br' } })
    const bytes = Buffer.from(await file.arrayBuffer())
    size += Number(file.headers.get('content-length'))
    expect(file.status).toBe(200)
    expect(file.headers.get('content-encoding')).toBe('br')
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    if (integrity !== undefined) expect(`sha384-${createHash('sha384').update(bytes).digest('base64')}`).toBe(integrity)
  }
  expect(loaded.filter(([, , integrity]) => integrity === undefined).map(([, path]) => path)).toEqual([
    expect.stringContaining('.svg'),
  ])
  expect(size).toBeLessThan(60_000)
})

test('pages and files come as small as the browser takes them', async () => {
  const ask = (path: string, encoding: string) =>
    new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve, reject) => {
      const asked = request(service.origin + path, { headers: { 'accept-encoding': encoding } }, async (response) => {
        resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(await response.toArray()) })
      })
      asked.on('error', reject).end()
    })
  const page = `/pos?key=${shop.key}&test=1&value=1`
  const script = /\/pos\/assets\/page-\w+\.js/.exec((await ask(page, '')).bytes.toString())?.[0] ?? ''
  for (const path of [page, script]) {
    const plain = await ask(path, 'identity')
    expect(plain.encoding).toBeUndefined()
    const [br, gzip] = [await ask(path, 'gzip, br'), await ask(path, 'gzip')]
    expect([br.encoding, gzip.encoding]).toEqual(['br', 'gzip'])
    expect(brotliDecompressSync(br.bytes)).toEqual(plain.bytes)
    expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes)
  }
})

test.each([
  ['linkTestMissing', { test: '' }, 'lacks test=1'],
  ['linkAmountInvalid', { value: '1,50' }, 'amount in the link cannot be read'],
  ['linkAmountInvalid', { amount: '-5' }, 'amount in the link cannot be read'],
  ['linkCurrencyInvalid', { value: '1', currency: 'XXX' }, 'currency in the link is not known'],
  ['linkRedirectInvalid', { value: '1', redirect: 'javascript:alert(1)' }, 'an address that is not allowed'],
  ['linkRedirectInvalid', { value: '1', redirect: 'com.app://open' }, 'an address that is not allowed'],
  ['linkBroken', { value: '1', text: 'a'.repeat(2000) }, 'This payment link does not work'],
])('%s is told to whoever follows such a link: %#', async (_, query, sentence) => {
  const answer = await open(query)
  expect(answer.status).toBe(400)
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(answer.text).toContain(sentence)
  expect(answer.text).not.toContain('<form')
  expect(answer.text).not.toContain('<script')
})

test('a link for test payments does not open a shop that takes real ones, nor one without TLS its way back', async () => {
  expect(await openReal({ test: '1' })).toMatchObject({ status: 400, text: expect.stringContaining('takes real ones') })
  expect((await openReal({ value: '1', redirect: 'http://shop.test/' })).status).toBe(400)
  expect((await open({ value: '1', redirect: 'http://shop.test/' })).status).toBe(200)
})

test('a shop that may not take cards says so before anybody types one', async () => {
  const closed = await plantMerchant(service)
  await service.app.db`update pay.merchants set can_charge_card = false where id = ${closed.id}`
  const answer = await open({ key: closed.key, value: '5' })
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('Shop cannot take payments at the moment.') })
})

test.each(['', 'nobody', '00000000-0000-4000-8000-000000000000', '\u0000', 'x'.repeat(50)])(
  'the key %j names no shop',
  async (key) => {
    const answer = await open({ key, locale: 'de' })
    expect(answer.status).toBe(404)
    expect(answer.text).toContain('<html lang="de">')
  },
)

test('what is wrong with a link written by hand does not stop it', async () => {
  const answer = await service.call(`GET /pos?key=${shop.key}&test=1&text=100%&value=5&value[a]=b&%zz`)
  expect(answer.status).toBe(200)
  expect(answer.text).toContain('100%')
})

const attacks = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  '</script><script>alert(1)</script>',
  '<!--<script>',
  '{amount}{merchant}$&$1',
]

test.each(['text', 'reference', 'locale', 'currency', 'value', 'amount', 'redirect', 'recurring', 'test', 'key', 'unknown'])(
  'nothing in %s becomes part of the page',
  async (name) => {
    for (const attack of attacks) {
      const { text } = await open({ value: '5', [name]: attack })
      expect(text).not.toContain('<script>alert')
      expect(text).not.toContain('<img')
      expect(text).not.toContain('<svg onload')
      expect(text.match(/<script/g)?.length ?? 0).toBeLessThanOrEqual(2)
    }
  },
)

test('a hostile text arrives as it was written', async () => {
  for (const attack of attacks) expect(dataIn((await open({ value: '5', text: attack })).text).payment.text).toBe(attack)
})

test('a shop with a hostile name is shown by it', async () => {
  const hostile = await plantMerchant(service)
  const name = '</script><script>alert(1)</script>{amount}$&'
  await service.app.db`update pay.merchants set name = ${name} where id = ${hostile.id}`
  const { text } = await open({ key: hostile.key, value: '5' })
  expect(text.match(/<script/g)).toHaveLength(2)
  expect(dataIn(text).merchant.name).toBe(name)
})
