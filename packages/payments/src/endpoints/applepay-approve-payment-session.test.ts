import type { TestedService } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { startPayments } from '../testing.ts'

let service: TestedService<App>
beforeAll(async () => {
  service = await startPayments()
})
afterAll(() => service.stop())

const path = 'POST /applepay/approve-payment-session'
const headers = { 'accept-version': '2' }

test('a merchant session is refused with what is missing for it', async () => {
  const answer = await service.call(path, { headers, json: { configurationId: '0'.repeat(32), text: 'Shop' } })
  expect(answer.status).toBe(400)
  expect(answer.json()).toEqual({
    code: 'APPLEPAY_CONFIGURATION_INVALID',
    message:
      'Invalid configuration: asking Apple for a merchant session takes a merchant identity certificate, and this service holds none',
  })
})

test.each([
  [{ text: 'Shop' }, 'configurationId: Required'],
  [{ configurationId: 'x' }, 'text: Required'],
  [{ configurationId: 'x', text: 'x'.repeat(65) }, 'text: Must be at most 64 characters long'],
])('%j is found fault with first', async (json, message) => {
  const answer = await service.call(path, { headers, json })
  expect(answer.json()).toMatchObject({ code: 'REQUEST_INVALID', message: `Invalid request: ${message}` })
})

test('version 2 alone is spoken', async () => {
  const answer = await service.call(path, { headers: { 'accept-version': '1' }, json: { configurationId: 'x', text: 'Shop' } })
  expect(answer.json()).toMatchObject({ code: 'VERSION_UNSUPPORTED' })
})
