import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPayments } from '../testing.ts'

let service: Awaited<ReturnType<typeof startPayments>>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service?.stop())

test.each([
  'page-0000000000000000.js',
  'page.js',
  'accent-0f766e-ffffff-0000000000000000.css',
  'accent-0f766e-}body{}-0000000000000000.css',
  '..%2f..%2fpackage.json',
  '__proto__',
  'x'.repeat(101),
])('there is no file %s', async (name) => {
  expect((await service.call(`GET /pos/assets/${name}`)).status).toBe(404)
})
