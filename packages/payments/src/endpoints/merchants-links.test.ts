import { afterAll, beforeAll, expect, test } from 'vitest'
import { scanPicture } from '../rules/qr-scanner.ts'
import { createApp, plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
let merchant: Awaited<ReturnType<typeof plantMerchant>>
beforeAll(async () => {
  service = await startPayments({ PAY_POS_URL: 'https://pos.example.com/pay' })
  merchant = await plantMerchant(service)
})
afterAll(() => service.stop())

type Made = { link: { url: string; qr: string } }

function make(json: unknown, { id, authorization } = merchant, more: Record<string, string> = {}) {
  return service.call(`POST /merchants/${id}/links`, { headers: { authorization, accept: 'application/json', ...more }, json })
}

test('a link says whom, how much and what for, and its QR code says the same', async () => {
  const answer = await make({ amount: 1250, reference: 'Order 7', text: 'Brød & smør', redirect: 'https://shop.test/done' })
  expect(answer.status).toBe(201)
  const { url, qr } = answer.json<Made>().link
  expect(url).toBe(
    `https://pos.example.com/pay?key=${merchant.key}&test=1&currency=EUR&value=12.5` +
      '&reference=Order+7&text=Br%C3%B8d+%26+sm%C3%B8r&redirect=https%3A%2F%2Fshop.test%2Fdone',
  )
  expect(scanPicture(qr)).toBe(url)
  expect(qr).toContain('<title>Pay https://shop.test: EUR 12.5</title>')
})

test.each([
  ['a text', '12.50'],
  ['a number', 12.5],
  ['digits', '12.5'],
])('an amount in major units may be %s', async (_, value) => {
  expect((await make({ value, currency: 'USD' })).json<Made>().link.url).toMatch(/&currency=USD&value=12\.5$/)
})

test('a form will do, and a link without anything leaves the amount to the payer', async () => {
  const { id, authorization } = merchant
  const form = { value: '3', recurring: 'yes', locale: 'da_DK' }
  const answer = await service.call(`POST /merchants/${id}/links`, { headers: { authorization }, form })
  expect(answer.json<Made>().link.url).toMatch(/&currency=EUR&value=3&locale=da_DK&recurring=y$/)
  expect((await make({})).json<Made>().link.url).toBe(`https://pos.example.com/pay?key=${merchant.key}&test=1`)
})

test('the link of a live merchant has no test in it', async () => {
  const live = await plantMerchant(service, { test: false })
  expect((await make({ value: 1 }, live)).json<Made>().link.url).toBe(
    `https://pos.example.com/pay?key=${live.key}&currency=EUR&value=1`,
  )
})

test.each([
  [{ amount: 1.5 }, 'amount'],
  [{ amount: -1 }, 'amount'],
  [{ amount: 1, value: 1 }, 'value'],
  [{ value: '12,50' }, 'value'],
  [{ value: 1e21 }, 'value'],
  [{ value: { $gt: 0 } }, 'value'],
  [{ value: -5 }, 'value'],
  [{ currency: 'XXX' }, 'currency'],
  [{ currency: 'euro' }, 'currency'],
  [{ redirect: 'javascript:alert(1)' }, 'redirect'],
  [{ redirect: 'data:text/html,hello' }, 'redirect'],
  [{ redirect: 'https://user:word@shop.test' }, 'redirect'],
  [{ text: ['x'] }, 'text'],
  [{ text: 'x'.repeat(2000) }, 'text'],
  [{ reference: 'x'.repeat(2000) }, 'reference'],
  [{ locale: '../../etc' }, 'locale'],
  [{ recurring: 'perhaps' }, 'recurring'],
])('%j is refused, and the field is named', async (json, field) => {
  const answer = await make(json)
  expect([answer.status, answer.json()]).toEqual([400, [{ field, message: expect.stringMatching(/^\S/) }]])
})

test("somebody else's merchant has no links", async () => {
  const stranger = await createApp(service.call)
  expect((await make({}, { ...merchant, authorization: stranger.authorization })).status).toBe(404)
  expect((await make({}, { ...merchant, id: '0123456789abcdef01234567' })).status).toBe(404)
  expect((await make({}, { ...merchant, authorization: '' })).status).toBe(401)
})

test('an Idempotency-Key stands for one link, and for no other', async () => {
  const key = { 'idempotency-key': 'link-1' }
  const first = await make({ value: 5 }, merchant, key)
  const again = await make({ value: 5 }, merchant, key)
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
  expect((await make({ value: 6 }, merchant, key)).json()).toMatchObject({ code: 'idempotency_mismatch' })
})
