import { sdkScript } from '@tollgate/sdk/script'
import { expect, onTestFinished, test } from 'vitest'
import { startPayments } from '../testing.ts'

test.each(['/sdk.js', '/10.js'])('%s is the script of the popup, for the pages of any shop', async (path) => {
  const service = await startPayments()
  onTestFinished(() => service.stop())
  const { status, headers, text } = await service.call(`GET ${path}`, { headers: { origin: 'https://shop.test' } })
  expect(status).toBe(200)
  expect(text).toBe(await sdkScript())
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
  })
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
})

test.each(['br', 'gzip'])('it goes out as %s to those who take that, in at most 3 kB', async (encoding) => {
  const service = await startPayments()
  onTestFinished(() => service.stop())
  const answer = await fetch(`${service.origin}/sdk.js`, { headers: { 'accept-encoding': encoding } })
  expect(answer.headers.get('content-encoding')).toBe(encoding)
  expect(Number(answer.headers.get('content-length'))).toBeLessThanOrEqual(3_000)
  expect(await answer.text()).toBe(await sdkScript())
})
