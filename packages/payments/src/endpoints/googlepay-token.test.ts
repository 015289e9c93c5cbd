import type { Secret } from '@tollgate/kit/secret'
import type { TestedService } from '@tollgate/kit/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { App } from '../app.ts'
import { startPayments } from '../testing.ts'
import { fakeGoogle, fakeRecipient, message } from '../wallets/googlepay-fake.ts'
import { readWallet, type Wallet } from '../wallets/wallet.ts'

const google = fakeGoogle()
const recipient = fakeRecipient()
const headers = { 'accept-version': '1' }

let service: TestedService<App>
beforeAll(async () => {
  service = await startPayments({
    PAY_GOOGLEPAY_KEYS: recipient.setting,
    PAY_GOOGLEPAY_ROOT_KEYS: google.rootKeys(),
    PAY_GOOGLEPAY_RECIPIENT: 'gateway:tollgate',
  })
})
afterAll(() => service.stop())

const exchange = (token: unknown, at = service) => at.call('POST /googlepay/token', { headers, json: { token } })

test('what Google Pay gave becomes a token that opens to what it was, for the merchant whom it names', async () => {
  const answer = await exchange(JSON.stringify(google.pay(recipient.publicKey)))
  expect(answer.status).toBe(200)
  expect(answer.text).toMatch(/^\{"token":"[A-Za-z0-9+/]+={0,2}"\}\n$/)
  const opened = service.app.vault.open('googlepay', answer.json<{ token: string }>().token, service.now()) as Secret
  const order = { currency: 'EUR', amount: 1050, merchantNames: ['some-shop'], now: service.now() }
  const paid = readWallet('googlepay', opened.reveal(), order) as Wallet
  expect(paid.number.reveal()).toBe(message.paymentMethodDetails.pan)
  expect(paid).toMatchObject({ transactionId: 'AH2EjtcMessage', tds: 'full' })
  expect(readWallet('googlepay', opened.reveal(), { ...order, merchantNames: ['another-shop'] })).toBe('TOKEN_INVALID')
})

test('what is not genuine, what cannot be decrypted and what cannot be read are refused, each in its own words', async () => {
  const genuine = google.pay(recipient.publicKey)
  const forged = await exchange(JSON.stringify({ ...genuine, signedMessage: '{}' }))
  expect(forged.json()).toEqual({
    code: 'GOOGLEPAY_TOKEN_INVALID',
    message: 'Invalid token: its signature is of something else, or for somebody else',
  })
  const foreign = await exchange(JSON.stringify(google.pay(fakeRecipient().publicKey)))
  expect(foreign.json()).toEqual({
    code: 'GOOGLEPAY_DECODING_ERROR',
    message: 'Token decoding fails: it was not encrypted for any of the keys here',
  })
  expect((await exchange('x')).json()).toEqual({ code: 'GOOGLEPAY_TOKEN_INVALID', message: 'Invalid token: it is not JSON' })
  expect((await exchange(undefined)).json()).toMatchObject({
    code: 'REQUEST_INVALID',
    message: 'Invalid request: token: Required',
  })
})

test('where Google Pay is not set up, it says so', async () => {
  const bare = await startPayments()
  onTestFinished(() => bare.stop())
  expect((await exchange(JSON.stringify(google.pay(recipient.publicKey)), bare)).json()).toEqual({
    code: 'GOOGLEPAY_CONFIGURATION_INVALID',
    message: 'Invalid configuration: Google Pay is not set up here: PAY_GOOGLEPAY_KEYS is missing',
  })
})

test('nothing of a card is in the log or in a refusal', async () => {
  const content = { ...message, messageExpiration: message.paymentMethodDetails.pan }
  const answer = await exchange(JSON.stringify(google.pay(recipient.publicKey, { content })))
  expect(answer.json()).toMatchObject({ code: 'GOOGLEPAY_DECODING_ERROR' })
  expect(answer.text + JSON.stringify(service.lines)).not.toMatch(/4200009876540000|AAAAAA/)
})
