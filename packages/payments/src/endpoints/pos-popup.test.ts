import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantMerchant, startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service?.stop())

const dataIn = (page: string) => JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '')

test('a popup may be shown by every shop, and knows the currencies', async () => {
  const { key } = await plantMerchant(service)
  const answer = await service.call(`GET /pos/popup?key=${key}&locale=fi`)
  expect(answer.status).toBe(200)
  expect(String(answer.headers['content-security-policy'])).toContain('frame-ancestors *')
  expect(answer.headers).not.toHaveProperty('x-frame-options')
  expect(answer.text).toContain('<html lang="fi">')
  const { currencies, merchant, problem } = dataIn(answer.text)
  expect(merchant).toEqual({ key, name: 'Shop', test: true, currency: 'EUR' })
  expect(problem).toBeUndefined()
  expect(currencies[0].split(' ')).toContain('JPY')
  expect(currencies[2].split(' ')).toEqual(expect.arrayContaining(['EUR', 'ISK', 'HUF']))
  expect(currencies[3].split(' ')).toContain('KWD')
  expect(currencies[2].split(' ')).not.toContain('HRK')
})

test('a key that nobody has is told to the page around', async () => {
  const answer = await service.call('GET /pos/popup?key=<script>alert(1)</script>')
  expect(answer.status).toBe(200)
  expect(answer.text).not.toContain('<script>alert')
  expect(dataIn(answer.text).problem).toBe('The key names no merchant')
})
