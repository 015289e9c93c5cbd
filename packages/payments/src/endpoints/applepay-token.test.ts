import type { Secret } from '@tollgate/kit/secret'
import { stillClock, type TestedService } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../app.ts'
import { startPayments } from '../testing.ts'
import { fakeApple, fakeMerchant, payment } from '../wallets/applepay-fake.ts'
import { readWallet, type Wallet } from '../wallets/wallet.ts'

const apple = fakeApple(stillClock()())
const merchant = fakeMerchant()
const headers = { 'accept-version': '1', origin: 'https://shop.test' }

let service: TestedService<App>
beforeAll(async () => {
  service = await startPayments({
    PAY_APPLEPAY_KEYS: merchant.setting,
    PAY_APPLEPAY_ROOT: apple.root,
    PAY_HOSTS: 'applepay.shop.test=/applepay',
  })
})
afterAll(() => service.stop())

const exchange = (token: unknown) => service.call('POST /applepay/token', { headers, json: { token } })

test('what Apple Pay gave becomes a token that opens to what it was, for the amount that was agreed to', async () => {
  const answer = await exchange(JSON.stringify(apple.pay(merchant)))
  expect(answer.status).toBe(200)
  expect(answer.text).toMatch(/^\{"token":"[A-Za-z0-9+/]+={0,2}"\}\n$/)
  expect(answer.headers['access-control-allow-origin']).toBe('https://shop.test')
  const opened = service.app.vault.open('applepay', answer.json<{ token: string }>().token, service.now()) as Secret
  const order = { currency: 'EUR', merchantNames: [], now: service.now() }
  const paid = readWallet('applepay', opened.reveal(), { ...order, amount: 1050 }) as Wallet
  expect(paid.number.reveal()).toBe(payment.applicationPrimaryAccountNumber)
  expect(readWallet('applepay', opened.reveal(), { ...order, amount: 1051 })).toBe('PAYMENT_APPLEPAY_AMOUNT_MISMATCH')
})

test('its own host has it at the root', async () => {
  const asked = { headers: { ...headers, host: 'applepay.shop.test' }, json: { token: JSON.stringify(apple.pay(merchant)) } }
  expect((await service.call('POST /token', asked)).status).toBe(200)
})

test('what is not genuine is refused, and says why', async () => {
  const answer = await exchange(JSON.stringify({ ...apple.pay(merchant), data: apple.pay(merchant).data }))
  expect(answer.status).toBe(400)
  expect(answer.headers['x-status-code']).toBe('APPLEPAY_TOKEN_INVALID')
  expect(answer.json()).toEqual({ code: 'APPLEPAY_TOKEN_INVALID', message: 'Invalid token: its signature is of something else' })
})

test('a token for a key that is not here is a matter of configuration', async () => {
  const answer = await exchange(JSON.stringify(apple.pay(fakeMerchant())))
  expect(answer.json()).toEqual({
    code: 'APPLEPAY_CONFIGURATION_INVALID',
    message: 'Invalid configuration: there is no key for the header.publicKeyHash of this token',
  })
})

test.each([
  ['no token', undefined, 'token: Required'],
  ['an object for its text', { version: 'EC_v1' }, 'token: Must be text'],
  ['more than any token has', 'x'.repeat(32_769), 'token: Must be at most 32768 characters long'],
])('%s is refused', async (_, token, message) => {
  const answer = await exchange(token)
  expect(answer.status).toBe(400)
  expect(answer.json()).toMatchObject({ code: 'REQUEST_INVALID', message: `Invalid request: ${message}` })
})

test('nothing of a card is in the log or in a refusal', async () => {
  const content = { ...payment, currencyCode: payment.applicationPrimaryAccountNumber }
  const answer = await exchange(JSON.stringify(apple.pay(merchant, { content })))
  expect(answer.json()).toMatchObject({
    code: 'APPLEPAY_TOKEN_INVALID',
    message: 'Invalid token: in its data, currencyCode: Invalid',
  })
  expect(answer.text + JSON.stringify(service.lines)).not.toMatch(/4200009876540000|Af9x/)
})
